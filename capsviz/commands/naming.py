"""Help that names algorithms and data sets, looked up when it is asked for: `capsviz --help` waits for no torch."""

from typing import Any

from typer.core import TyperArgument, TyperCommand, TyperOption

from capsviz.errors import listed


class NamingCommand(TyperCommand):
    """A command whose help may say {routings}, {data_sets} and the like: any key of `names`."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help, with the names in it."""
        known = names()
        for parameter in self.params:
            if isinstance(parameter, TyperArgument | TyperOption) and parameter.help:
                parameter.help = parameter.help.format_map(known)
        super().format_help(ctx, formatter)


def names() -> dict[str, str]:
    """What the objects of algorithms and data sets are called, by what they have in common."""
    from capsviz.data import DATASETS
    from capsviz.network import METHODS, PRESETS
    from capsviz.network.layouts import LAYOUTS
    from capsviz.routing import ALGORITHMS

    algorithms = ALGORITHMS.values()
    return {
        "routings": f"{', '.join(ALGORITHMS)}; without capsules: {', '.join(METHODS.keys() - ALGORITHMS.keys())}",
        "presets": ", ".join(PRESETS),
        "layouts": ", ".join(f"{each.name} ({each.repository})" for each in LAYOUTS.values()),
        "by_matrices": listed([each.short for each in algorithms if each.matrix]),
        "data_sets": ", ".join(DATASETS),
        "fetched": " or ".join(name for name, each in DATASETS.items() if not each.embedded),
    }
