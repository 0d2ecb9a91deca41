"""Every choice of a visitor, declared once: type, default, how a link says it, what it resets, its sentence."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import Any

from app.shared.resources import MAX_ITERATIONS as MAX_ITERATIONS
from app.state import capsule_sets
from app.state.codecs import (
    CELL,
    DATA,
    DRAFT,
    INTERVENTION,
    LENGTHS,
    METHOD,
    MODEL,
    PAIR,
    PICTURE,
    RECORDING,
    TARGET,
    TOUR,
    TYPE,
    UPPER,
    VIEWPOINT,
    Codec,
    between,
    flag,
    flag_of,
    model_or,
    number,
    numbers,
    one_of,
    place,
    steps,
    whole,
)
from app.tours.tour import MOST_STEPS
from app.training.trainings import CONFIGS
from capsviz.boards.basics import LONGEST, MARGINS
from capsviz.boards.decoder import HANDS, WIDE
from capsviz.boards.mixture import (
    BETA,
    COVARIANCES,
    FEWEST_POINTS,
    GAUSSIANS,
    LEAST_TEMPERATURE,
    MOST_POINTS,
    SEEDS,
    TEMPERATURES,
    TURNS,
)
from capsviz.data import Viewpoint
from capsviz.data.folder import CLASSES
from capsviz.data.multi import REACH
from capsviz.data.points import EXTENT, PRESETS
from capsviz.data.viewpoint import CHANGES
from capsviz.experiments import reports
from capsviz.routing import ALGORITHMS, ASCENDING
from capsviz.routing.discriminative import L1
from capsviz.routing.em import BETA_A
from capsviz.tracing.intervention import Intervention

SOURCES = ("data", "upload", "camera", "pad", "generated", "recorded", "overlaid")
SPLITS = ("test", "train")
LABS = ("network", "toy")
EXHIBITS = ("squash", "loss", "parts")
"""Of Basics."""
ANOTHER_IMAGE = "image"
SAME_VOTES = "same:"
"""Before the name of an algorithm that routes the votes of the model on stage."""
BESIDE = (ANOTHER_IMAGE, *(f"{SAME_VOTES}{name}" for name in ALGORITHMS))
MAX_TEMPERATURE = TEMPERATURES[-1]
VIEWS = ("image", "many", "distributions", "confusions", "wrong")
"""Of Compare: this image, many images, distributions, confusions, classified right and drawn wrong."""
ORDERS = ("next", "different", "worst")
MEASURES = ("mse", "ssim", "drawings")
MOST_PARTS = 5
"""Primary capsules that *Part and whole* shows of a class capsule."""
FEWEST, MOST = 4, 12
"""Images side by side on Compare."""
SECTIONS = ("agreement", "coefficients", "history", "ascent")
"""What the discriminative page shows below its strip."""
PENALTIES = tuple(ASCENDING)
CLIMBS: dict[str, tuple[str, bool]] = {
    (name if not proximal else "proximal" if algorithm is L1 else f"{name}-proximal"): (name, proximal)
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
LOOK = ("turned", "zoom", "bare", "absolute", "listed")
"""The choices of how a routing board is looked at, not of what it shows."""
FARTHEST_TURN = 3.15
"""Radians from 0 that a yaw or pitch goes: half around."""
CLOSEST = 6
"""Steps that the zoom of the votes goes to either side, each by half as much again."""


_OF_A_MODEL = (
    *("data", "only", "upper", "penalty", "layer", "position", "kind", "capsule", "touched"),
    *("pair", "method", "cell", "to", "image", "over", "frame", "offsets", "lengths"),
)
_OF_AN_IMAGE = ("upper", "kind", "offsets", "lengths")
_APART = f"Two images lie at most {2 * REACH} pixels apart, not “{{text}}”"
_TURNED = f"The votes are turned by two angles from −{FARTHEST_TURN:g} to {FARTHEST_TURN:g}, not by “{{text}}”"
_TOY = numbers(
    TOY_REACH,
    lambda count: count % 4 == 0 and TOY_CAPSULES[0] <= count // 4 <= TOY_CAPSULES[1],
    [4 * count for count in range(TOY_CAPSULES[0], TOY_CAPSULES[1] + 1)],
    "The toy's votes in the link are not numbers",
    "The toy takes four numbers for each of {} to {} capsules".format(*TOY_CAPSULES),
    f"The toy's votes go from −{TOY_REACH:g} to {TOY_REACH:g}",
)
_POINTS = numbers(
    EXTENT,
    lambda count: count % 3 == 0 and FEWEST_POINTS <= count // 3 <= MOST_POINTS,
    [3 * count for count in (FEWEST_POINTS, MOST_POINTS)],
    "The points in the link are not numbers",
    f"Points take three numbers each, x, y and activation, and there are {FEWEST_POINTS} to {MOST_POINTS} of them",
    f"Points lie from −{EXTENT:g} to {EXTENT:g}, and their activations from 0 to 1",
    least=lambda at: 0.0 if at % 3 == 2 else -EXTENT,
)
_OFFSETS = numbers(
    WIDE,
    lambda _: True,
    (16,),
    "The capsule offsets in the link are not numbers",
    "",
    f"Capsule offsets go from −{WIDE:g} to {WIDE:g}",
    sparse=True,
)


def _margin(what: str) -> Codec:
    return between(0, 1, f"{what} cannot be “{{text}}”", f"{what} goes from 0 to 1", places=2)


def _beta(name: str) -> Codec:
    return between(-BETA, BETA, f"{name} cannot be “{{text}}”", f"{name} goes from −{BETA:g} to {BETA:g}", places=1)


@dataclass(frozen=True)
class Declaration:
    """All that is said of one choice beside its type.

    instead: what stands on screen where the link says nothing that can be shown, in words. resets: the choices that go
    back to their defaults with a change of this one. kept: whether, in spite of that, this one stays.
    """

    key: str
    codec: Codec
    instead: str
    resets: tuple[str, ...]
    kept: Callable[[Choices], bool]


def choice(
    codec: Codec,
    default: Any,
    instead: str = "",
    *,
    key: str = "",
    resets: tuple[str, ...] = (),
    kept: Callable[[Choices], bool] = lambda _: False,
) -> Any:
    """A field of `Choices`; key: its name in the link, where that is not the field's; the rest as in `Declaration`."""
    return field(default=default, metadata={"declaration": (key, codec, instead, resets, kept)})


@dataclass(frozen=True)
class Choices:
    """Every choice of the visitor. The URL holds those that differ from these defaults, and always the model.

    They are read in this order: the model first, because classes depend on it.
    """

    model: str = choice(
        MODEL,
        MISSING,
        "{model}",
        resets=_OF_A_MODEL,
    )
    source: str = choice(
        one_of(SOURCES, "source of images"),
        "data",
        "images of a data set",
        resets=("picture", "image", "over", "recording", *_OF_AN_IMAGE),
    )
    """`data` (a data set on this machine), `upload`, `camera`, `pad` (drawn by hand), `generated` (by the model),
    `recorded` (images and traces that `capsviz trace` left), or `overlaid` (two images over one another)."""
    picture: str = choice(PICTURE, "", "an image of a data set", resets=_OF_AN_IMAGE)
    """What the visitor sent, photographed or drew, as `linked_picture` writes it; empty: nothing yet."""
    data: str = choice(DATA, "", "the model's own data set", resets=("image", *_OF_AN_IMAGE))
    """Data set to take the image from; empty: the model's own where it is on this machine, else the embedded digits."""
    split: str = choice(one_of(SPLITS, "split"), "test", resets=("image", *_OF_AN_IMAGE))
    recording: str = choice(RECORDING, "", "the first recording", resets=("image", *_OF_AN_IMAGE))
    """Name of the recording to take images and traces from; empty: the first one."""
    image: int | None = choice(place("image"), None, "the image to begin with", resets=_OF_AN_IMAGE)
    """Its place among the images of the source; None: the one to begin with."""
    viewpoint: Viewpoint = choice(VIEWPOINT, Viewpoint(), "the image as it is")
    """How the image on stage is turned, shifted, scaled, sheared and brightened; it stays from image to image."""
    over: int | None = choice(place("image"), None, "the first image of another class", resets=_OF_AN_IMAGE)
    """The image that is laid over the first one; None: the first of another class."""
    right: int = choice(steps(2 * REACH, _APART), 2 * REACH // 2, "{right} pixels to the right", key="dx")
    """By how many pixels it stands farther to the right."""
    down: int = choice(steps(2 * REACH, _APART), 0, "{down} pixels down", key="dy")
    """By how many pixels it stands farther down."""
    only: int | None = choice(
        whole(0, CLASSES[1] - 1, f"There is no class “{{text}}” (0 to {CLASSES[1] - 1})"),
        None,
        "all classes",
        resets=("image", *_OF_AN_IMAGE),
    )
    """Class to browse, of the images on stage, which may be of another data set than the model's; None: all of them."""
    upper: int | None = choice(UPPER, None, "the class that the model predicts", key="class", resets=("offsets",))
    """Class capsule to look at; None: the one that the model predicts."""
    layer: int | None = choice(
        whole(0, 9, "The layer cannot be “{text}” (0 to 9)"),
        None,
        "the layer of the class capsules",
        resets=("position", "kind", "capsule", "frame"),
    )
    """EM, of a network with several routed layers: which one, counted from 0; None: that of the class capsules."""
    position: int | None = choice(whole(0, 9999, "The position cannot be “{text}” (0 to 9999)"), None, "the middle")
    """Where in that layer's grid its capsules are looked at, row by row; None: the middle."""
    kind: int | None = choice(TYPE, None, "the most active type", key="type")
    """Type to look at, of the capsules at that position of a convolutional layer; None: the most active one."""
    capsule: int | None = choice(
        whole(0, capsule_sets.MOST - 1, "There is no primary capsule “{text}”"), None, "no capsule"
    )
    """Capsule to look at, of those below the chosen `layer`: a primary one, the same on every page, where there is but
    one layer. None: none, or where a page needs one, its strongest."""
    touched: Intervention = choice(INTERVENTION, Intervention(), "the network untouched", key="touch")
    """Primary capsules that are muted, boosted or isolated before they vote."""
    temperature: float | None = choice(
        between(
            LEAST_TEMPERATURE,
            MAX_TEMPERATURE,
            "λ cannot be “{text}”",
            f"λ goes from {LEAST_TEMPERATURE:g} to {MAX_TEMPERATURE:g}",
            places=3,
        ),
        None,
        "the model's own λ",
        key="lambda",
    )
    """EM, on its page: what λ rises to; None: what the model was trained with."""
    frame: int | None = choice(place("image"), None, "the last frame")
    """Frame at which the players stand, counted from 0: a line of the algorithm, a snapshot, a step; None: the last."""
    turned: tuple[float, float] | None = choice(
        numbers(FARTHEST_TURN, lambda count: count == 2, (2,), *[_TURNED] * 3),
        None,
        "the votes in their plane",
        key="3d",
    )
    """Yaw and pitch in radians under which the routing boards show the votes in space; None: in their plane."""
    zoom: int = choice(
        steps(CLOSEST, f"The votes cannot be zoomed by “{{text}}” (−{CLOSEST} to {CLOSEST})"),
        0,
        "the votes at their usual size",
    )
    """Steps by which the routing boards zoom into the votes, below 0 out of them."""
    bare: bool = choice(flag("off", "heat"), False, "the couplings on the image", key="heat")
    """The boards show the image without the couplings laid over it."""
    absolute: bool = choice(flag("off", "difference"), False, "what has changed", key="difference")
    """Under an intervention the boards show what is, not what has changed."""
    listed: str = choice(one_of(LISTED, "order of the list"), "share", "the capsules that give most", key="list")
    """Number by which the boards sort their list of capsules, one of `LISTED`."""
    lab: str = choice(one_of(LABS, "laboratory"), "network", resets=("frame",))
    """On the dynamic routing page: the `network`, or the `toy` of two parents."""
    second: str = choice(model_or(BESIDE, " to put beside it"), "", "nothing beside it")
    """What is routed beside it: one of `BESIDE`, or a model's name; empty: nothing."""
    second_image: int = choice(place("image"), 1, "image {second_image}", key="image2")
    """The other image's place in the data set."""
    iterations: int | None = choice(
        whole(1, MAX_ITERATIONS, f"Routing cannot run “{{text}}” times here (1 to {MAX_ITERATIONS})"),
        None,
        "what the model was trained with",
        key="T",
        resets=("frame",),
    )
    """T of DR and EM, on the pages that are about them; None: what the model was trained with."""
    penalty: str = choice(one_of(PENALTIES, "penalty"), "", "L2")
    """`l2` or `l1` on the discriminative page; empty: the model's own, else `l2`."""
    section: str = choice(one_of(SECTIONS, "part of the page"), "agreement", "agreement", key="part", resets=("frame",))
    """Part of the discriminative page: one of `SECTIONS`."""
    votes: str = choice(one_of(("same", "own"), "choice of votes"), "same", "the same votes")
    """What dynamic routing runs on beside L2 or L1: the `same` votes, or those of its `own` model."""
    climb: str = choice(one_of(tuple(CLIMBS), "ascent"), "", "the penalty of the page")
    """Penalty and step of the ascent, one of `CLIMBS`; empty: the penalty that the page shows."""
    step_size: float = choice(number(STEP_SIZES, "γ"), 0.05, "γ = {step_size:g}", key="gamma")
    """γ of the ascent."""
    regularisation: float = choice(number(REGULARISATIONS, "λ"), 0.001, "λ = {regularisation:g}")
    """λ of the ascent."""
    ascent_steps: int = choice(
        whole(1, MAX_ASCENT_STEPS, f"The number of ascent steps cannot be “{{text}}” (1 to {MAX_ASCENT_STEPS})"),
        60,
        "{ascent_steps} steps",
        key="steps",
    )
    start: str = choice(one_of(("fresh", "trained"), "start of b"), "fresh", "a fresh b")
    """Where the ascent begins: `fresh`, as a training does, or `trained`."""
    batch: int = choice(number(BATCHES, "The batch"), 128, "{batch} images")
    """Images that the ascent sees."""
    draw: int = choice(
        whole(0, MAX_DRAW, f"The draw of the batch cannot be “{{text}}” (0 to {MAX_DRAW})"), 0, "the first draw"
    )
    """Seed of that batch, and of a fresh b."""
    toy: tuple[float, ...] = choice(_TOY, (), "the votes that it begins with")
    """Votes of the toy, flat: lower capsule, parent (two), coordinate (two); empty: those that it begins with."""
    preset: str = choice(one_of(tuple(PRESETS), "preset of points"), next(iter(PRESETS)), "“{preset}”")
    """Mixtures: the rule by which the points are drawn."""
    seed: int = choice(whole(0, SEEDS - 1, f"There is no draw “{{text}}” of the points (0 to {SEEDS - 1})"), 0)
    """Mixtures: the seed of that draw."""
    points: tuple[float, ...] = choice(_POINTS, (), "the points that are drawn")
    """Mixtures: points by hand, flat, x, y and activation of each; empty: those that are drawn."""
    gaussians: int | None = choice(
        whole(GAUSSIANS[0], GAUSSIANS[-1], f"There cannot be “{{text}}” Gaussians here (2 to {GAUSSIANS[-1]})"),
        None,
        "as many Gaussians as the points call for",
        key="k",
    )
    """Mixtures: how many Gaussians; None: as many as the preset begins with."""
    covariance: str = choice(one_of(COVARIANCES, "form of covariances"), COVARIANCES[0])
    """Mixtures: `full` covariances, or `diag`onal ones."""
    turn: int = choice(whole(0, TURNS - 1, f"There is no start “{{text}}” (0 to {TURNS - 1})"), 0, "the first start")
    """Mixtures: how often the circle of the first means is turned."""
    voting: bool = choice(flag("votes", "as"), False, "a mixture of Gaussians", key="as")
    """Mixtures: the points are votes under EM routing, with `temperature` as λ."""
    beta_u: float = choice(_beta("βᵤ"), 0.0, "βᵤ = 0")
    """Mixtures, of routing: the cost of each vote received."""
    beta_a: float = choice(_beta("βₐ"), BETA_A, f"βₐ = {BETA_A:g}".replace("-", "−"))
    """Mixtures, of routing: up to which cost a parent is active."""
    even: bool = choice(flag("even", "R"), False, "an R that the first E-step gives", key="R")
    """Mixtures, of routing: R begins as 1 / J."""
    point: int | None = choice(
        whole(0, MOST_POINTS - 1, f"There is no point “{{text}}” (0 to {MOST_POINTS - 1})"), None, "no point"
    )
    """Mixtures: the point that is looked at."""
    held: bool = choice(flag("1", "check"), False, "the mixture alone", key="check")
    """Mixtures: our numbers are held against scikit-learn's."""
    offsets: tuple[float, ...] = choice(
        _OFFSETS, (), "the capsule as it is", kept=lambda choices: choices.hand != "cells"
    )
    """What Perturb adds to each dimension of the capsule; empty: nothing."""
    wide: bool = choice(flag("wide", "range"), False, "the paper's range", key="range")
    """The wider range of the Perturb sliders."""
    view: str = choice(one_of(VIEWS, "view"), "image", "one image")
    """What Compare shows, one of VIEWS."""
    order: str = choice(one_of(ORDERS, "order"), "next", "the images that follow")
    """Which images Compare puts side by side: those from the one on stage on, the most different, the worst drawn."""
    count: int = choice(
        whole(FEWEST, MOST, f"“{{text}}” images do not fit side by side ({FEWEST} to {MOST})"),
        9,
        "{count} images",
        key="n",
    )
    """How many of them."""
    pair: tuple[str, str] | None = choice(PAIR, None, "the first two methods")
    """The two models whose difference counts; None: the first two of the data set."""
    measure: str = choice(one_of(MEASURES, "measure"), "mse")
    """By what models differ, and what is distributed: `mse`, `ssim`, or `drawings` (the drawings themselves)."""
    errors: bool = choice(flag("errors", "show"), False, "reconstructions", key="show")
    """Error maps instead of reconstructions."""
    chart: str = choice(one_of(("violin", "ecdf"), "chart"), "violin")
    """Form of the distributions: `violin` or `ecdf`."""
    sort: str = choice(one_of(("method", "median"), "order of methods"), "method", "the usual order")
    """Order of the methods: `method` (as everywhere) or `median`."""
    method: str = choice(METHOD, "", "the first method")
    """Model whose confusions or drawings are looked at; empty: all, or the first that suits."""
    cell: tuple[int, int] | None = choice(CELL, None, "all cells")
    """Class shown and class named: the cell of the confusion matrix whose images are looked at."""
    sample: str = choice(one_of(("wrong", "first"), "sample"), "wrong", "those drawn wrong")
    """Which drawings stand for Figure 2 (c): those read as another class first, or simply the `first` ones."""
    experiment: str = choice(one_of(reports.NAMES, "experiment"), "table", "Table II")
    """What Results shows, by the name that the command line gives it."""
    hand: str = choice(one_of(HANDS, "way to move a capsule"), "sliders")
    """What Perturb moves the capsule by: `sliders`, `cells` (all capsules as a grid) or `walk` (to another capsule)."""
    beside: bool = choice(flag("1", "beside"), False, "one model")
    """Perturb: all models of the data set that have a decoder, side by side."""
    to: tuple[int, int] | None = choice(TARGET, None, "a walk to the class that is second likely")
    """Where a walk ends: a class, and the number of an exemplar or `OWN`; None: at the class that is second likely."""
    share: float = choice(
        between(0, 1, "“{text}” is no share of a walk", "A walk goes from 0 to 1", places=2),
        0.0,
        "the start of the walk",
        key="walk",
    )
    """How far the walk is, 0 to 1."""
    sphere: bool = choice(flag("sphere", "path"), False, "the straight walk", key="path")
    """The walk goes along the sphere, not straight on."""
    exhibit: str = choice(one_of(EXHIBITS, "exhibit"), "squash", resets=("frame",))
    """What Basics shows: `squash`, the margin `loss`, or the `parts` of which class capsules are made."""
    vector_length: float = choice(
        between(0, LONGEST, "The length of s cannot be “{text}”", f"s is 0 to {LONGEST:g} long", places=2),
        1.5,
        "‖s‖ = {vector_length:g}",
        key="s",
    )
    """‖s‖ of the vector that is squashed on Basics."""
    vector_angle: int = choice(
        steps(180, "The direction of s cannot be “{text}” (−180 to 180 degrees)"), 40, "{vector_angle}°", key="angle"
    )
    """Its direction in degrees."""
    present_margin: float = choice(_margin("m⁺"), MARGINS[0], "m⁺ = {present_margin:g}", key="mplus")
    """m⁺ of the margin loss on Basics."""
    absent_margin: float = choice(_margin("m⁻"), MARGINS[1], "m⁻ = {absent_margin:g}", key="mminus")
    """Its m⁻."""
    absent_weight: float = choice(_margin("The weight of an absent class"), MARGINS[2], "{absent_weight:g}", key="down")
    """What it counts an absent class."""
    lengths: tuple[tuple[int, float], ...] = choice(LENGTHS, (), "the class capsules as they are")
    """Class capsules there, each with the length that the visitor gave it; empty: none."""
    change: str = choice(one_of(tuple(CHANGES), "change of viewpoint"), next(iter(CHANGES)))
    """Viewpoint: the change that is played over its whole range, one of `CHANGES`."""
    trained: str = choice(one_of(tuple(CONFIGS), "algorithm to train"), next(iter(CONFIGS)), key="train")
    """Training: the algorithm of the network that is trained there next; a link begins no training."""
    parts: int = choice(
        whole(1, MOST_PARTS, f"A class capsule cannot be shown with “{{text}}” parts (1 to {MOST_PARTS})"),
        3,
        "{parts} parts of each",
    )
    """Primary capsules that Basics shows of each class capsule."""
    details: bool = choice(flag("1", "details"), False, "the page without its details")
    """The panel at the end of a page is open."""
    present: bool = choice(flag("1", "present"), False, "the page with its sidebar")
    """Presenter mode: no sidebar, large type, keys."""
    tour: str = choice(TOUR, "", "no tour", resets=("step",))
    """Name of the tour that is under way, as `app.tours.store` knows it; empty: none."""
    step: int = choice(whole(1, MOST_STEPS, f"A tour has no step “{{text}}” (1 to {MOST_STEPS})"), 1, "step {step}")
    """Step of that tour, counted from 1; beyond the last one it is the last."""
    notes: bool = choice(flag_of("tour", "1", "notes"), False, "the page")
    """The speaker's notes on the tour in the place of the page; without a tour an ordinary page."""
    talk: str = choice(DRAFT, "", "no views of your own")
    """Name of the tour into which views are collected; empty: none yet."""

    @property
    def models(self) -> tuple[str, ...]:
        """The models that a view may show: the one on stage, the one beside it, one of several, and two compared."""
        return (self.model, self.second, self.method, *(self.pair or ()))


def _declared(name: str, key: str, codec: Codec, instead: str, *rest: Any) -> Declaration:
    return Declaration(key or name, codec, instead or f"“{{{name}}}”", *rest)


DECLARED = {each.name: _declared(each.name, *each.metadata["declaration"]) for each in fields(Choices)}
"""What is declared of each field of `Choices`, in their order."""


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
    types: Mapping[str, int] = field(default_factory=dict)
    """The most types that a convolutional layer of a model's capsules has, by its name; other models have none."""
    most: Mapping[str, int] = field(default_factory=dict)
    """By a model's name the most classes of those that take its images, one of which may stand in; else its own."""
    without_capsules: tuple[str, ...] = ()
    """Networks without capsules, which are compared by what they name."""
    unrouted: Mapping[str, str] = field(default_factory=dict)
    """A sentence on each model whose routing nothing here defines, by its name."""
