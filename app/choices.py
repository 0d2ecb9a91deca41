"""Every choice of a visitor, typed, and the values that it may have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from capsviz.intervene import Intervention
from capsviz.routing import ASCENDING

SOURCES = ("data", "upload", "camera", "pad", "generated", "recorded")
SPLITS = ("test", "train")
LABS = ("network", "toy")
ANOTHER_IMAGE = "image"
MAX_ITERATIONS = 10
TEMPERATURES = (0.05, 0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0, 7.5, 10.0)
"""What EM's λ may rise to, beside the model's own: finer steps where λ is small."""
MAX_TEMPERATURE = TEMPERATURES[-1]
VIEWS = ("image", "many", "distributions", "confusions", "wrong")
"""Of Compare: this image, many images, distributions, confusions, classified right and drawn wrong."""
ORDERS = ("next", "different", "worst")
MEASURES = ("mse", "ssim", "drawings")
FEWEST, MOST = 4, 12
"""Images side by side on Compare."""
SECTIONS = ("agreement", "coefficients", "history", "ascent")
"""What the discriminative page shows below its strip."""
PENALTIES = tuple(ASCENDING)
CLIMBS: dict[str, tuple[str, bool]] = {
    "proximal" if proximal else name: (name, proximal)
    for name, algorithm in ASCENDING.items()
    for proximal in sorted(algorithm.updates)
}
"""Penalties of the ascent, each with whether its step is the soft threshold, which L1 has beside the subgradient."""
STEP_SIZES = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.3)
REGULARISATIONS = (0.0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
MAX_ASCENT_STEPS = 200
BATCHES = (16, 32, 64, 128, 256)
MAX_DRAW = 9999
TOY_CAPSULES, TOY_REACH = (2, 6), 1.2
"""Fewest and most lower capsules of the toy, and how far the coordinates of their votes go."""
LISTED = ("share", "agreement", "presence", "length")
FARTHEST_TURN = 3.15
"""Radians from 0 that a yaw or pitch goes: half around."""
CLOSEST = 6
"""Steps that the zoom of the votes goes to either side, each by half as much again."""


@dataclass(frozen=True)
class Choices:
    """Every choice of the visitor. The URL holds those that differ from these defaults, and always the model."""

    model: str
    source: str = "data"
    """`data` (a data set on this machine), `upload`, `camera`, `pad` (drawn by hand), `generated` (by the model), or
    `recorded` (images and traces that `capsviz trace` left)."""
    picture: str = ""
    """What the visitor sent, photographed or drew, as `linked_picture` writes it; empty: nothing yet."""
    data: str = ""
    """Data set to take the image from; empty: the model's own where it is on this machine, else the embedded digits."""
    split: str = "test"
    recording: str = ""
    """Name of the recording to take images and traces from; empty: the first one."""
    image: int | None = None
    """Its place among the images of the source; None: the one to begin with."""
    only: int | None = None
    """Class to browse; None: all of them."""
    upper: int | None = None
    """Class capsule to look at; None: the one that the model predicts."""
    layer: int | None = None
    """EM, of a network with several routed layers: which one, counted from 0; None: that of the class capsules."""
    position: int | None = None
    """Where in that layer's grid its capsules are looked at, row by row; None: the middle."""
    capsule: int | None = None
    """Primary capsule to look at, the same on every page; None: none, or where a page needs one, its strongest."""
    touched: Intervention = Intervention()
    """Primary capsules that are muted, boosted or isolated before they vote."""
    temperature: float | None = None
    """EM: what λ rises to; None: what the model was trained with."""
    frame: int | None = None
    """Frame at which the players stand, counted from 0: a line of the algorithm, a snapshot, a step; None: the last."""
    turned: tuple[float, float] | None = None
    """Yaw and pitch in radians under which the routing boards show the votes in space; None: in their plane."""
    zoom: int = 0
    """Steps by which the routing boards zoom into the votes, below 0 out of them."""
    bare: bool = False
    """The boards show the image without the couplings laid over it."""
    absolute: bool = False
    """Under an intervention the boards show what is, not what has changed."""
    listed: str = "share"
    """Number by which the boards sort their list of capsules, one of `LISTED`."""
    lab: str = "network"
    """On the dynamic routing page: the `network`, or the `toy` of two parents."""
    second: str = ""
    """What is routed beside it: `image` (another image), or a model's name; empty: nothing."""
    second_image: int = 1
    """The other image's place in the data set."""
    iterations: int | None = None
    """T of DR and EM; None: what the model was trained with."""
    penalty: str = ""
    """`l2` or `l1` on the discriminative page; empty: the model's own, else `l2`."""
    section: str = "agreement"
    """Part of the discriminative page: one of `SECTIONS`."""
    votes: str = "same"
    """What dynamic routing runs on beside L2 or L1: the `same` votes, or those of its `own` model."""
    climb: str = ""
    """Penalty and step of the ascent, one of `CLIMBS`; empty: the penalty that the page shows."""
    step_size: float = 0.05
    """γ of the ascent."""
    regularisation: float = 0.001
    """λ of the ascent."""
    ascent_steps: int = 60
    start: str = "fresh"
    """Where the ascent begins: `fresh`, as a training does, or `trained`."""
    batch: int = 128
    """Images that the ascent sees."""
    draw: int = 0
    """Seed of that batch, and of a fresh b."""
    toy: tuple[float, ...] = ()
    """Votes of the toy, flat: lower capsule, parent (two), coordinate (two); empty: those that it begins with."""
    offsets: tuple[float, ...] = ()
    """What Perturb adds to each dimension of the capsule; empty: nothing."""
    wide: bool = False
    """The wider range of the Perturb sliders."""
    view: str = "image"
    """What Compare shows, one of VIEWS."""
    order: str = "next"
    """Which images Compare puts side by side: those from the one on stage on, the most different, the worst drawn."""
    count: int = 9
    """How many of them."""
    pair: tuple[str, str] | None = None
    """The two models whose difference counts; None: the first two of the data set."""
    measure: str = "mse"
    """By what models differ, and what is distributed: `mse`, `ssim`, or `drawings` (the drawings themselves)."""
    errors: bool = False
    """Error maps instead of reconstructions."""
    chart: str = "violin"
    """Form of the distributions: `violin` or `ecdf`."""
    sort: str = "method"
    """Order of the methods: `method` (as everywhere) or `median`."""
    method: str = ""
    """Model whose confusions or drawings are looked at; empty: all, or the first that suits."""
    cell: tuple[int, int] | None = None
    """Class shown and class named: the cell of the confusion matrix whose images are looked at."""
    sample: str = "wrong"
    """Which drawings stand for Figure 2 (c): those read as another class first, or simply the `first` ones."""
    experiment: str = "table"
    """What Results shows, by the name that the command line gives it."""
    hand: str = "sliders"
    """What Perturb moves the capsule by: `sliders`, `cells` (all capsules as a grid) or `walk` (to another capsule)."""
    beside: bool = False
    """Perturb: all models of the data set that have a decoder, side by side."""
    to: tuple[int, int] | None = None
    """Where a walk ends: a class, and the number of an exemplar or `OWN`; None: at the class that is second likely."""
    share: float = 0.0
    """How far the walk is, 0 to 1."""
    sphere: bool = False
    """The walk goes along the sphere, not straight on."""
    present: bool = False
    """Presenter mode: no sidebar, large type, keys."""


@dataclass(frozen=True)
class Catalogue:
    """What may be chosen on this machine."""

    start: str
    """Model to begin with."""
    classes: Mapping[str, int]
    """Number of classes of each model, by name."""
    data: tuple[str, ...]
    """Data sets known by name, on this machine or not."""
    successors: Mapping[str, str] = field(default_factory=dict)
    """The model that took the place of one that left, by the name of that."""
