"""The command line's `capsviz data`: which data sets are here, and fetching the others."""

from typing import Annotated

import typer

from capsviz.commands.naming import NamingCommand

data_app = typer.Typer(no_args_is_help=True, help="Data sets: which are here, and fetching the others.")


@data_app.command("list")
def data_list() -> None:
    """Say which data sets are on this machine and what fetching the others costs."""
    from capsviz.data import DATASETS, available, data_root

    print(f"Data sets below {data_root()} (set CAPSVIZ_DATA to look elsewhere):")
    for name, info in DATASETS.items():
        state = "here" if available(name) else f"capsviz data download {name}  ({info.download_bytes / 1e6:.0f} MB)"
        shape = "×".join(map(str, info.image))
        print(f"  {name:14} {info.train_count:>10,} train {info.test_count:>10,} test  {shape:8} {state}")
        print(f"  {'':14} {info.source}; licence: {info.licence}")


@data_app.command("download", cls=NamingCommand)
def data_download(name: Annotated[str, typer.Argument(help="{fetched}.")]) -> None:
    """Fetch a data set to the folder that CAPSVIZ_DATA names, with a progress bar."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn, TransferSpeedColumn

    from capsviz.data import DATASETS, available, data_root, download
    from capsviz.data.dataset import FOLDER_PREFIX

    if not available(name):
        columns = (BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
        with Progress(*columns, console=Console(stderr=True)) as bar:
            task = bar.add_task(name)
            download(name, lambda done, total: bar.update(task, completed=done, total=total))
    if name in DATASETS and DATASETS[name].embedded:
        print(f"{name} comes with capsviz.")
    else:
        print(f"{name} is here." if name.startswith(FOLDER_PREFIX) else f"{name} is here, below {data_root()}.")
