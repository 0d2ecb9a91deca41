"""Pictures of traces: pure functions from recorded numbers to plotly figures, with one palette and one theme.

No function here runs a model. Every figure carries its own alt text (`describe`).
"""

from .blocks import image_blocks
from .compare import error_map, reconstruction_grid
from .confusions import confusion_matrices, confusion_matrix
from .couplings import coupling_entropy_figure, coupling_geometry, lengths_over_iterations
from .describe import describe
from .discriminative import coefficient_histogram, coefficient_map
from .distributions import distribution_steps, distribution_violins
from .errors import FigureError
from .network import network_strip
from .perturb import dimension_sheet, reconstruction_figure
from .reconstructions import method_grid
from .sankey import type_flow
from .standalone import standalone_html
from .theme import CLASS_COLOURS, DIVERGING, ROUTING_COLOURS, SEQUENTIAL, style

__all__ = [
    "CLASS_COLOURS",
    "DIVERGING",
    "ROUTING_COLOURS",
    "SEQUENTIAL",
    "FigureError",
    "coefficient_histogram",
    "coefficient_map",
    "confusion_matrices",
    "confusion_matrix",
    "coupling_entropy_figure",
    "coupling_geometry",
    "describe",
    "dimension_sheet",
    "distribution_steps",
    "distribution_violins",
    "error_map",
    "image_blocks",
    "lengths_over_iterations",
    "method_grid",
    "network_strip",
    "reconstruction_figure",
    "reconstruction_grid",
    "standalone_html",
    "style",
    "type_flow",
]
