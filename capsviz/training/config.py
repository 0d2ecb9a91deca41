"""What a training run does, as data."""

import math
import re
import shlex
from dataclasses import asdict, dataclass, fields
from typing import Any, get_args

from capsviz.data.dataset import FOLDER_PREFIX
from capsviz.data.folder import parted
from capsviz.errors import CapsvizError
from capsviz.network import METHODS, MOST_ITERATIONS
from capsviz.reading import understood
from capsviz.routing import ASCENDING, Ascending, Method, Through, shorts
from capsviz.training.schedules import SCHEDULES

PRECISIONS = ("auto", "32-true", "bf16-mixed", "16-mixed")


class SettingsError(CapsvizError):
    """A training was asked for that cannot be done."""


@dataclass(frozen=True)
class TrainingConfig:
    """One training run: the images, the network and how its weights are found.

    data, routing, preset, decoder  what is trained on, and which network (capsviz.network.configure); the baseline
                           without capsules has no decoder either way
    epochs, steps          length; `steps` wins when it is given
    batch                  images a step, over all processes together
    learning_rate, schedule  Adam's peak rate and how it moves (schedules.py)
    decoder_rate           Adam's peak rate for the decoder's weights, moving alike; None: that of the others
    shift                  augmentation: random shifts of up to this many pixels
    mirror                 augmentation: half of the images, drawn at random, with left and right exchanged
    cutout                 augmentation: a square of this side in pixels, at a random place, set to zero
    rotate, scale, shear   augmentation: random turns of up to so many degrees, enlargements and reductions by up to
                           this share, shears of up to so many degrees, all in one resampling
    weight_decay           decoupled from the gradient (Loshchilov & Hutter 2019), on matrices and kernels alone
    average                decay of the exponential moving average of the weights that is validated, tested and
                           saved; 0: the weights themselves
    ascent_step            γ of Yang et al. 2021, eq. 13, for L2 and L1, at the peak learning rate and moving with it
    regularisation         λ of Yang, Li & Yu 2021, eq. 10 and 14, for an ascent gradient averaged over the batch
    proximal               soft-threshold step instead of L1's subgradient
    validation_share       part of the training set held out; the same images for every seed
    warm_up_steps          EM: steps over which the spread loss's margin and λ rise; None: half of all
    iterations             T of the routing that is trained; None: the preset's
    through                iterations through which gradients flow, "last" or "all"; None: the preset's
    coefficient_start      around which b is drawn, for L2 and L1; None: the preset's
    precision              "auto": bf16-mixed where the device multiplies bfloat16 natively, else 32-true
    Raises SettingsError, with one sentence, for a value outside its range.
    """

    data: str
    routing: str
    preset: str = "compact"
    decoder: bool = True
    epochs: int = 10
    steps: int | None = None
    batch: int = 128
    learning_rate: float = 1e-3
    schedule: str = "paper-fashion"
    shift: int = 0
    mirror: bool = False
    seed: int = 0
    precision: str = "auto"
    ascent_step: float = 0.005
    regularisation: float = 1e-3
    proximal: bool = False
    validation_share: float = 1 / 12
    warm_up_steps: int | None = None
    iterations: int | None = None
    through: str | None = None
    coefficient_start: float | None = None
    decoder_rate: float | None = None
    cutout: int = 0
    rotate: float = 0.0
    scale: float = 0.0
    shear: float = 0.0
    weight_decay: float = 0.0
    average: float = 0.0

    def __post_init__(self) -> None:
        self._one_of("routing", tuple(METHODS))
        self._one_of("schedule", SCHEDULES)
        self._one_of("precision", PRECISIONS)
        self._at_least("epochs", 1)
        self._at_least("batch", 1)
        self._at_least("shift", 0)
        self._at_least("cutout", 0)
        self._at_least("seed", 0)
        if self.seed >= 2**63:
            raise SettingsError(f"seed is {self.seed}; give less than 2**63.")
        self._at_least("weight_decay", 0)
        for name, least_above in (("rotate", 180.0), ("scale", 1.0), ("shear", 90.0), ("average", 1.0)):
            if not 0 <= getattr(self, name) < least_above:
                raise SettingsError(f"{name} is {getattr(self, name)}; give at least 0 and less than {least_above:g}.")
        self._at_least("regularisation", 0)
        if self.steps is not None:
            self._at_least("steps", 1)
        if self.warm_up_steps is not None:
            self._at_least("warm_up_steps", 1)
        if self.iterations is not None:
            self._at_least("iterations", 1)
            if self.iterations > MOST_ITERATIONS:
                raise SettingsError(f"iterations is {self.iterations}; give at most {MOST_ITERATIONS}.")
        if self.through is not None:
            self._one_of("through", get_args(Through))
        for name in ("iterations", "through"):
            if getattr(self, name) is not None and not self.method.iterates:
                able = shorts(method for method in METHODS.values() if method.iterates)
                raise SettingsError(f"Only {able} iterate and the routing is {self.routing}; leave out {name}.")
        if self.coefficient_start is not None and not self.method.ascends:
            able = shorts(ASCENDING.values())
            raise SettingsError(f"Only {able} learn b and the routing is {self.routing}; leave out its start.")
        for name in ("learning_rate", "ascent_step", "decoder_rate"):
            value = getattr(self, name)
            if value is not None and not 0 < value < math.inf:
                raise SettingsError(f"{name} is {value}; give a finite number above 0.")
        if self.decoder_rate is not None and not (self.method.has_capsules and self.decoder):
            raise SettingsError("This network has no decoder; leave out its learning rate.")
        if not 0 < self.validation_share < 1:
            raise SettingsError(f"validation_share is {self.validation_share}; give a share between 0 and 1.")
        if not (self.method.has_capsules or self.decoder):
            raise SettingsError(f"The {self.method.short} has no decoder to leave out; drop --no-decoder.")
        if self.proximal and not (isinstance(self.method, Ascending) and self.method.proximal):
            soft = [method for method in ASCENDING.values() if method.proximal]
            raise SettingsError(
                f"The proximal step belongs to {shorts(soft)} and the routing is {self.routing}; use routing "
                f"{' or '.join(method.name for method in soft)}."
            )

    def _one_of(self, name: str, choices: tuple[str, ...]) -> None:
        value = getattr(self, name)
        if value not in choices:
            raise SettingsError(f"{name} is {value!r}; choose one of {', '.join(choices)}.")

    def _at_least(self, name: str, least: int) -> None:
        value = getattr(self, name)
        if not least <= value < math.inf:
            raise SettingsError(f"{name} is {value}; give a finite number of at least {least}.")

    @property
    def method(self) -> Method:
        """What is trained: the object of the name `routing`."""
        return METHODS[self.routing]

    def warm_up(self, total: int) -> int:
        """Steps, of `total`, over which EM's margin and inverse temperature rise."""
        return total // 2 if self.warm_up_steps is None else self.warm_up_steps

    @property
    def name(self) -> str:
        """The model's name: "mnist-dr", "digits-l2-fc", "mnist-matrix"; the papers' sizes end in "-paper", the residual
        encoder's in "-residual".
        """
        source = slug(parted(self.data)[0].name) if self.is_folder else self.data
        kind = "matrix" if self.preset.startswith("matrix-") else self.routing
        size = {"paper": "-paper", "matrix-paper": "-paper", "residual": "-residual"}.get(self.preset, "")
        return f"{source}-{kind}" + ("" if self.decoder else "-fc") + size

    @property
    def moved(self) -> bool:
        """Whether the training images are moved, turned or blanked."""
        return bool(self.shift or self.mirror or self.cutout or self.resampled)

    @property
    def resampled(self) -> bool:
        """Whether the training images are turned, scaled or sheared."""
        return bool(self.rotate or self.scale or self.shear)

    @property
    def is_folder(self) -> bool:
        """Whether the images are the user's own, "folder:PATH"."""
        return self.data.startswith(FOLDER_PREFIX)

    def command(self) -> str:
        """The shell command that trains this again: every option that differs from its default."""
        words = ["capsviz", "train", "--data", self.data, "--routing", self.routing, "--preset", self.preset]
        length = "steps" if self.steps is not None else "epochs"
        words += [f"--{length}", str(getattr(self, length))]
        for field in fields(self):
            value = getattr(self, field.name)
            # Of a folder, what is not asked for is chosen by its size.
            chosen = value == field.default and not (self.is_folder and field.name == "batch")
            if field.name in ("data", "routing", "preset", "epochs", "steps") or chosen:
                continue
            option = OPTIONS[field.name]
            words += [option] if isinstance(value, bool) else [option, str(value)]
        return shlex.join(words)

    def to_dict(self) -> dict[str, Any]:
        """The fields, for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "TrainingConfig":
        """The config that `to_dict` gave; SettingsError when a field is unknown."""
        unknown = set(values) - {field.name for field in fields(cls)}
        if unknown:
            raise SettingsError(
                f"The run was made by another version of capsviz (unknown setting {min(unknown)!r}); train again."
            )
        return understood(cls, values, "The run's settings", "train again", SettingsError)


def slug(name: str) -> str:
    """A folder's name as a model's: letters, digits, dots and dashes."""
    return re.sub(r"[^\w.]+", "-", name).strip("-.") or "images"


# How the command line spells each field.
OPTIONS = {
    "decoder": "--no-decoder",
    "batch": "--batch",
    "learning_rate": "--lr",
    "decoder_rate": "--decoder-lr",
    "schedule": "--schedule",
    "shift": "--shift",
    "mirror": "--mirror",
    "cutout": "--cutout",
    "rotate": "--rotate",
    "scale": "--scale",
    "shear": "--shear",
    "weight_decay": "--weight-decay",
    "average": "--average",
    "seed": "--seed",
    "precision": "--precision",
    "ascent_step": "--gamma",
    "regularisation": "--regularisation",
    "proximal": "--proximal",
    "validation_share": "--validation-share",
    "warm_up_steps": "--warm-up-steps",
    "iterations": "--iterations",
    "through": "--through",
    "coefficient_start": "--coefficient-start",
}
