"""The command line's `capsviz train`."""

from pathlib import Path
from typing import Annotated

import typer

from capsviz.terminal import Device, Threads, duration, error_of, say


def train(
    data: Annotated[str, typer.Option(help="{data_sets} or folder:PATH.")],
    routing: Annotated[str, typer.Option(help="{routings}.")],
    preset: Annotated[
        str | None,
        typer.Option(help="{presets}; for {by_matrices} also matrix-compact, …; compact unless given, or what suits."),
    ] = None,
    size: Annotated[
        int | None, typer.Option(min=8, max=224, help="folder: pixels a side that images are brought to.")
    ] = None,
    epochs: Annotated[int | None, typer.Option(help="Passes over the training set; 10, of a folder more.")] = None,
    steps: Annotated[int | None, typer.Option(help="Steps, instead of epochs.")] = None,
    batch: Annotated[
        int | None, typer.Option(help="Images a step, over all processes together; 128, of a small folder 32.")
    ] = None,
    lr: Annotated[float, typer.Option(help="Adam's peak learning rate.")] = 1e-3,
    decoder_lr: Annotated[float | None, typer.Option(help="That of the decoder; the same unless given.")] = None,
    schedule: Annotated[
        str, typer.Option(help="constant, one-cycle, paper-fashion, paper-mnist-fc or paper-multi-mnist.")
    ] = "paper-fashion",
    shift: Annotated[int, typer.Option(help="Augment by random shifts of up to this many pixels.")] = 0,
    mirror: Annotated[bool, typer.Option("--mirror", help="Augment by mirroring half of the images.")] = False,
    cutout: Annotated[int, typer.Option(help="Augment by blanking a random square of this many pixels a side.")] = 0,
    rotate: Annotated[float, typer.Option(help="Augment by random turns of up to so many degrees.")] = 0.0,
    scale: Annotated[float, typer.Option(help="Augment by random scaling by up to this share, such as 0.1.")] = 0.0,
    shear: Annotated[float, typer.Option(help="Augment by random shears of up to so many degrees.")] = 0.0,
    weight_decay: Annotated[float, typer.Option(help="Decoupled weight decay of matrices and kernels.")] = 0.0,
    average: Annotated[
        float, typer.Option(help="Decay of the moving average of the weights that is saved; 0: none.")
    ] = 0.0,
    seed: Annotated[int, typer.Option(help="Everything random follows from it.")] = 0,
    no_decoder: Annotated[bool, typer.Option("--no-decoder", help="Train without the reconstruction network.")] = False,
    name: Annotated[
        str | None, typer.Option(help="The run's folder below --out; by default DATA-ROUTING and what it adds.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Where runs are kept.")] = Path("runs"),
    resume: Annotated[bool, typer.Option("--resume", help="Go on with this run where it was cut off.")] = False,
    precision: Annotated[str, typer.Option(help="auto, 32-true, bf16-mixed or 16-mixed.")] = "auto",
    gamma: Annotated[float, typer.Option(help="{learned}: the step of the coefficients' ascent.")] = 0.005,
    regularisation: Annotated[float, typer.Option(help="{learned}: lambda of the coefficients' objective.")] = 1e-3,
    proximal: Annotated[
        bool, typer.Option("--proximal", help="{proximal}: soft threshold instead of the subgradient.")
    ] = False,
    validation_share: Annotated[float, typer.Option(help="Part of the training set held out.")] = 1 / 12,
    warm_up_steps: Annotated[
        int | None, typer.Option(help="{tempered}: steps over which margin and lambda rise; half of all unless given.")
    ] = None,
    iterations: Annotated[
        int | None, typer.Option(help="{iterating}: routing iterations; the preset's unless given.")
    ] = None,
    through: Annotated[
        str | None, typer.Option(help="{iterating}: iterations that gradients flow through, last or all.")
    ] = None,
    coefficient_start: Annotated[
        float | None, typer.Option(help="{learned}: around which b is drawn; 0.1 unless given.")
    ] = None,
    device: Device = None,
    threads: Threads = None,
    time_limit: Annotated[str | None, typer.Option(help="Stop with a checkpoint after, say, 9m.")] = None,
) -> None:
    """Train a network: metrics, checkpoints, final weights and a summary go to OUT/NAME.

    Of your own images, in a folder with a sub-folder for each class, it chooses size, preset, batch and length, and
    says so: `capsviz train --data folder:leaves --routing dr`.
    """
    from capsviz.training.choosing import choose
    from capsviz.training.config import TrainingConfig
    from capsviz.training.interrupt import EXIT_CODES
    from capsviz.training.loop import train as run

    suited = choose(
        data,
        routing,
        size=size,
        preset=preset,
        epochs=epochs,
        batch=batch,
        steps=steps,
        validation_share=validation_share,
    )
    if suited.sentence:
        say(suited.sentence)
    config = TrainingConfig(
        data=suited.data,
        routing=routing,
        preset=suited.preset,
        decoder=not no_decoder,
        epochs=suited.epochs,
        steps=steps,
        batch=suited.batch,
        learning_rate=lr,
        decoder_rate=decoder_lr,
        schedule=schedule,
        shift=shift,
        mirror=mirror,
        cutout=cutout,
        rotate=rotate,
        scale=scale,
        shear=shear,
        weight_decay=weight_decay,
        average=average,
        seed=seed,
        precision=precision,
        ascent_step=gamma,
        regularisation=regularisation,
        proximal=proximal,
        validation_share=validation_share,
        warm_up_steps=warm_up_steps,
        iterations=iterations,
        through=through,
        coefficient_start=coefficient_start,
    )
    limit = None if time_limit is None else duration(time_limit)
    folder = out / (name or config.name)
    outcome = run(config, folder, resume=resume, device=device, threads=threads, time_limit=limit)
    if outcome.stopped:
        say(f"Stopped at step {outcome.step} ({outcome.stopped}); repeat the command with --resume to go on.")
        raise typer.Exit(EXIT_CODES[outcome.stopped])
    if outcome.summary:
        error = error_of(outcome.summary["test_error"], outcome.summary["test_count"])
        print(f"{folder}: test error {error}")
