"""What the result files of the experiments hold: each described once, and held against that before it is used."""

from __future__ import annotations

from typing import Annotated, Any, Generic, Literal, NotRequired, TypedDict, TypeVar

from msgspec import Meta

from capsviz.data.viewpoint import CHANGES
from capsviz.network import MATRIX_PRESETS, METHODS, PRESETS
from capsviz.reading import Digest, Name, Number, Percent, Text

Share = Annotated[float, Meta(ge=0, le=1)]
Amount = Annotated[float, Meta(ge=0, le=1e9)]
"""A loss, seconds, images in a second, or how large a number of b is."""
Signed = Annotated[float, Meta(ge=-1e9, le=1e9)]
Rate = Annotated[float, Meta(gt=0, le=1e9)]
Routing = Annotated[str, Meta(pattern=f"^({'|'.join(METHODS)})$")]
Some = Annotated[int, Meta(ge=1, le=2**53)]
"""A count of what is divided by."""
MOST_ROWS = Meta(max_length=10_000)


class Machine(TypedDict):
    """On what it was measured."""

    machine: Name
    device: NotRequired[Name]
    threads: Number
    torch: Name


class Measured(TypedDict):
    """A model over a set of images."""

    error: Percent
    loss: Amount
    count: Some


class TrainingByT(TypedDict):
    """The settings that the sweep over T compares; `TrainingConfig` says all of them."""

    seed: Number
    iterations: Number


class TrainingOfB(TypedDict):
    """Those that the sweeps of methods that learn b compare."""

    seed: Number
    regularisation: Amount
    proximal: bool
    coefficient_start: Signed | None
    ascent_step: Amount


class Coefficients(TypedDict):
    """What b of a run became."""

    exact_zero_share: Share
    near_zero_share: Share
    negative_share: Share
    mean: Signed
    deviation: Amount
    largest: Amount


class Row(TypedDict):
    """A row of a result that grows; on: where it was measured, unless that is what the result says."""

    on: NotRequired[Machine]


class Run(Row):
    """A run of a sweep; validation: step, error and loss after each epoch."""

    command: Text
    steps: Number
    seconds: Amount
    train: Measured
    test: Measured
    validation: Annotated[list[tuple[Number, Percent, Amount]], MOST_ROWS]


class RunByT(Run):
    """A run with T iterations."""

    training: TrainingByT


class RunOfB(Run):
    """A run of a method that learns b."""

    training: TrainingOfB
    coefficients: Coefficients


class SweepByT(Machine):
    """Runs with T = 1 …"""

    rows: Annotated[list[RunByT], MOST_ROWS]
    complete: NotRequired[bool]


class SweepOfB(Machine):
    """Runs of a sweep over what b depends on."""

    rows: Annotated[list[RunOfB], MOST_ROWS]
    complete: NotRequired[bool]


class Shipped(Row):
    """A shipped model; what it was measured at, the experiments add."""

    model: Name
    sha256: Digest


class Asked(Shipped):
    """Asked with T iterations."""

    count: Some
    trained_with: Number
    iterations: Annotated[int, Meta(ge=1, le=100)]
    error: Percent
    loss: Amount


class Moved(Shipped):
    """Over images shifted or turned by an amount; ink: which share of it is left. seen: None where nobody says."""

    data: Name
    routing: Routing
    seen_shift: Amount | None
    seen_rotation: Amount | None
    seen_scale: Amount | None
    seen_shear: Amount | None
    kind: Literal["shift", "rotation"]
    amount: Number
    count: Some
    error: Percent
    ink: Share


class Recovered(Shipped):
    """A linear map from `numbers` (of `of`) to the amount of a change, fitted on images and judged on held ones.

    r2_error: the standard error of R² over the held images.
    """

    data: Name
    routing: Routing
    change: Annotated[str, Meta(pattern=f"^({'|'.join(CHANGES)})$")]
    fitted: Some
    held: Some
    numbers: Some
    of: Some
    r2: Annotated[float, Meta(le=1)]
    r2_error: Amount


class Overlaid(Shipped):
    """Over images of two digits."""

    routing: Routing
    preset: Name
    error: Percent
    count: Some
    steps: Number


class Zeros(Shipped):
    """How much of its b is zero, exactly and nearly."""

    data: Name
    routing: Routing
    exact: Share
    near: Share


class Speed(TypedDict):
    """What `capsviz benchmark` measured."""

    preset: Name
    batch: Some
    threads: Number
    machine: Name
    device: Text
    images_per_second: dict[Name, Rate]


class Held(Row):
    """What training a network took at the most."""

    command: Text
    parameters: Some
    lower: Number
    bytes_before: Some
    bytes: Some
    seconds_per_step: Amount


R = TypeVar("R")


class Rows(Machine, Generic[R]):
    """A result that grows row by row."""

    rows: Annotated[list[R], MOST_ROWS]


KINDS: dict[str, Any] = {
    "iterations": SweepByT,
    "ascent": SweepOfB,
    "sparsity": SweepOfB,
    "iterations-shipped": Rows[Asked],
    "sparsity-shipped": Rows[Zeros],
    "robustness": Rows[Moved],
    "viewpoint": Rows[Recovered],
    "multi-mnist": Rows[Overlaid],
    "memory": Rows[Held],
    **{f"speed-{preset}{device}": Speed for preset in PRESETS | MATRIX_PRESETS for device in ("", "-cuda", "-mps")},
}
"""By the name of the file. What other files hold, their own readers say."""
