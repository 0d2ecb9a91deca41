"""The command line's `capsviz evaluate` and `capsviz trace`: what a trained network does with images.

Only typer is imported here, as in main.py.
"""

from pathlib import Path
from shlex import quote
from typing import Annotated, Any

import typer

from capsviz.errors import CapsvizError, needed
from capsviz.terminal import Device, Threads, error_of, say
from capsviz.waiting import first_process, under_way

PAGES = (".html", ".htm")
"""Endings of a file that is a board instead of a trace."""
Model = Annotated[str, typer.Option(help="A pretrained model's name, or a run's folder or weights file.")]


def open_model(name: str, device: str | None = None) -> tuple[Any, dict[str, Any]]:
    """A network, the CNN baseline too, in eval mode on a device (`capsviz.device.chosen`), and what is known of it.

    That is name, data and classes, as far as the run names them; of a pretrained one also test_error and test_count.
    """
    from capsviz import zoo
    from capsviz.analysis.exchange import SUFFIX
    from capsviz.device import chosen
    from capsviz.training.runs import open_run

    path = Path(name)
    if path.suffix == SUFFIX:
        raise CapsvizError(
            f"{name} is a model that was exported; `capsviz zoo add {quote(name)}` makes it known by its name."
        )
    if name not in zoo.models() and (path.exists() or path.suffix == ".safetensors" or len(path.parts) > 1):
        model, header = open_run(path)
        known = {
            "name": header["name"],
            "data": header["training"]["data"],
            "classes": tuple(header.get("classes", ())),
        }
        return model.to(chosen(device)), known
    model = zoo.load_network(name, device)
    entry = zoo.entry(name)
    return model, {
        "name": name,
        "data": entry.data,
        "classes": entry.classes,
        "test_error": entry.test_error,
        "test_count": entry.test_count,
    }


def evaluate(
    model: Model,
    data: Annotated[str | None, typer.Option(help="The data set; by default what the model was trained on.")] = None,
    split: Annotated[str, typer.Option(help="test or train.")] = "test",
    batch: Annotated[int, typer.Option(min=1, help="Images at a time, on the CPU.")] = 128,
    device: Device = None,
    threads: Threads = None,
) -> None:
    """Measure a model's error, and say whether it agrees with the manifest (exit code 1 when it does not)."""
    from capsviz.analysis.measuring import remedy
    from capsviz.data import same
    from capsviz.device import of
    from capsviz.training.evaluate import evaluate as measure

    network, known = open_model(model, device)
    with under_way(f"reading and measuring {known['name']}") as told:
        images = fitting(network, known, data or known["data"], split)
        result = measure(network, images, batch, progress=told)
    print(f"{known['name']} on {images.name} ({split}): error {error_of(result.error, result.count)}")
    if images.note:
        say(images.note)
    if split != "test" or not same(images.name, known["data"]) or "test_error" not in known:
        return
    expected = error_of(known["test_error"], known["test_count"])
    if error_of(result.error, result.count) != expected:
        raise CapsvizError(f"The manifest says {expected}: it disagrees; {remedy(known['data'], of(network))}.")
    print(f"The manifest says {expected}: it agrees.")


def trace(
    output: Annotated[
        Path,
        typer.Option(
            "-o", "--output", help="The safetensors file, a page to play it (.html), or with --data the folder."
        ),
    ],
    image: Annotated[Path | None, typer.Argument(help="A picture; leave it out with --data.")] = None,
    model: Annotated[
        str | None, typer.Option(help="A pretrained model's name, or a run's folder; by default dynamic routing's.")
    ] = None,
    iterations: Annotated[int | None, typer.Option(help="Routing iterations; the model's own unless given.")] = None,
    invert: Annotated[
        bool | None, typer.Option("--invert/--no-invert", help="Dark on bright; found out unless given.")
    ] = None,
    votes: Annotated[
        bool | None, typer.Option("--votes/--no-votes", help="Keep every vote: of a picture yes, of a set no.")
    ] = None,
    data: Annotated[str | None, typer.Option(help="Record a whole data set in shards instead of a picture.")] = None,
    split: Annotated[str | None, typer.Option(help="With --data: test or train; test unless given.")] = None,
    count: Annotated[
        int | None, typer.Option(min=1, help="With --data: only so many: the first, of a folder evenly spread.")
    ] = None,
    batch: Annotated[int | None, typer.Option(min=1, help="With --data: images a shard; 128 unless given.")] = None,
    half: Annotated[
        bool, typer.Option("--float16", help="With --data: iterations, votes and primary capsules in float16.")
    ] = False,
    device: Device = None,
    threads: Threads = None,
) -> None:
    """Record every iteration of the routing: of a picture in one file, of a data set in shards that open as one.

    A file that ends in .html is a board of the picture's routing, which any browser plays from disk.
    """
    if (image is None) == (data is None):
        raise CapsvizError("Give either a picture or --data NAME.")
    is_page = output.suffix.lower() in PAGES
    if data is not None and (is_page or output.suffix.lower() == ".safetensors"):
        raise CapsvizError(
            f"The traces of a data set fill a folder; give {output.stem}, say, instead of {output.name}."
        )
    if is_page and votes is False:
        raise CapsvizError("A board is made of the votes; leave out --no-votes.")
    of_set = {"--split": split, "--count": count, "--batch": batch, "--float16": half or None}
    of_picture = {"--invert": invert}
    for option, given in (of_set if data is None else of_picture).items():
        if given is not None:
            what = "a data set (--data)" if data is None else "a picture"
            raise CapsvizError(f"{option} is for {what}; leave it out.")
    if data is None and not is_page and output.suffix != ".safetensors":
        raise CapsvizError(f"{output} is no name of a trace; let it end in .safetensors, or in .html for a page.")
    opened = open_model(usual_model(data) if model is None else model, device)
    if data is not None:
        trace_set(opened, data, split or "test", output, count, batch or 128, iterations, bool(votes), half)
    elif image is not None:
        trace_picture(opened, image, output, iterations, invert, votes is not False)


def trace_picture(
    model: tuple[Any, dict[str, Any]],
    image: Path,
    output: Path,
    iterations: int | None,
    invert: bool | None,
    votes: bool,
) -> None:
    """Run a model, as `open_model` gives it, on a picture and record every iteration of its routing in one file."""
    from capsviz import data
    from capsviz.data import prepare_for, read_image, to_float
    from capsviz.files import make_folder, write
    from capsviz.tracing.recorder import trace as record

    network, known = model
    info = data.known(known["data"])
    prepared = prepare_for(known["data"], read_image(image), network.config.image, invert=invert)
    for note in prepared.notes:
        say(note)
    recorded = record(
        network,
        to_float(prepared.pixels[None]),
        iterations=iterations,
        votes=votes,
        name=known["name"],
        classes=known["classes"] or (info.classes if info else None),
        objects=info.objects if info else 1,
    )
    if output.suffix.lower() in PAGES:
        make_folder(output.parent)
        write(output, page(recorded, network))
    else:
        recorded.save(output)
    seen = (
        f"{recorded.classes[found]} (activation {float(recorded.activations[0, found]):.2f})"
        for found in recorded.named[0].tolist()
    )
    print(f"{output}: {known['name']} sees {' and '.join(seen)}")


def page(recorded: Any, network: Any) -> str:
    """The board of a recorded picture as a page of its own."""
    with needed("app", "A board"):
        from capsviz.boards import board_page, drawn_weights, trace_board
    return board_page(trace_board(recorded, more=drawn_weights(network, len(recorded.classes))))


def usual_model(data: str | None) -> str:
    """The model by dynamic routing that records a data set unless one is named: its own, or that which errs least."""
    from capsviz import zoo
    from capsviz.data import DIGITS, same
    from capsviz.routing.dynamic import DYNAMIC

    kind = data or DIGITS.name
    dynamic = (each for each in zoo.models().values() if each.routing == DYNAMIC.name)
    own = [each for each in dynamic if same(each.data, kind)]
    if not own:
        by = DYNAMIC.title.lower()
        raise CapsvizError(f"No model of {kind} by {by} is in {zoo.folder()}; name one with --model.")
    return min(own, key=lambda each: (each.name != f"{kind}-{DYNAMIC.name}", each.test_error)).name


def trace_set(
    model: tuple[Any, dict[str, Any]],
    data: str,
    split: str,
    output: Path,
    count: int | None,
    batch: int,
    iterations: int | None,
    votes: bool,
    half: bool,
) -> None:
    """Record the traces of a data set; every process that torchrun started takes its share of the shards."""
    from capsviz.tracing.trace_set_writer import record

    network, known = model
    images = fitting(network, known, data, split)
    recorded = record(
        network,
        images,
        output,
        name=known["name"],
        count=count,
        shard_size=batch,
        iterations=iterations,
        votes=votes,
        float16=half,
        say=say,
    )
    size = sum(shard.bytes for shard in recorded.shards)
    traces, shards = len(recorded), len(recorded.shards)
    if first_process():
        print(
            f"{output}: {traces} trace{'s' * (traces != 1)} of {known['name']} in {shards} shard{'s' * (shards != 1)}, "
            f"{size / 1e6:.1f} MB"
        )


def fitting(network: Any, known: dict[str, Any], data: str, split: str) -> Any:
    """A data set that a network can take; raises CapsvizError for another one.

    known: as `open_model` gives it. Of the very set that the network was trained on the classes have to be the same.
    """
    from capsviz.data import load, same

    name = known["name"]
    images = load(data, split, image=network.config.image)
    if images.image != network.config.image or len(images.classes) != network.config.classes:
        raise CapsvizError(
            f"{name} takes {network.config.image} images of {network.config.classes} "
            f"classes and {images.name} has {images.image} of {len(images.classes)}; choose another --data."
        )
    if known["classes"] and tuple(known["classes"]) != tuple(images.classes):
        if same(images.name, known["data"]):
            raise CapsvizError(
                f"The classes of {images.name} are {', '.join(images.classes)} and {name} learned "
                f"{', '.join(known['classes'])}; give its folders their names back."
            )
        say(f"{name} learned {', '.join(known['classes'])}; they count as {', '.join(images.classes)} in this order.")
    return images
