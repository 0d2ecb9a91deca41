"""What a training run does, as data."""

import math
import shlex
from collections.abc import Callable, Collection
from dataclasses import asdict, dataclass, field, fields
from typing import Any, NamedTuple, get_args

import numpy as np

from capsviz.data.dataset import FOLDER_PREFIX
from capsviz.data.folder import parted
from capsviz.errors import CapsvizError, listed
from capsviz.letters import with_letters
from capsviz.network import METHODS, MOST_ITERATIONS
from capsviz.reading import check, understood
from capsviz.routing import Method, Through
from capsviz.training.schedules import SCHEDULES

NO_DECODER = "This network has no decoder; leave out its learning rate."
PRECISIONS = ("auto", "32-true", "bf16-mixed", "16-mixed")


class SettingsError(CapsvizError):
    """A training was asked for that cannot be done."""


class Limit(NamedTuple):
    """What a value has to satisfy, and what to do where it does not."""

    holds: Callable[[Any], bool]
    remedy: str


def one_of(choices: Collection[str]) -> Limit:
    """One of these words."""
    return Limit(lambda value: value in choices, f"choose one of {', '.join(choices)}")


def at_least(least: int) -> Limit:
    """Finite, and from this number on."""
    return Limit(lambda value: least <= value < math.inf, f"give a finite number of at least {least}")


def below(bound: float) -> Limit:
    """From 0 on, and less than this number."""
    return Limit(lambda value: 0 <= value < bound, f"give at least 0 and less than {bound:g}")


RATE = Limit(lambda value: 0 < value < math.inf, "give a finite number above 0")


class Kind(NamedTuple):
    """The methods for which alone a setting is, by what they say of themselves, and what to tell the others."""

    attribute: str
    refusal: str

    @property
    def methods(self) -> list[Method]:
        """All of this kind."""
        return [method for method in METHODS.values() if getattr(method, self.attribute, False)]


ITERATING = Kind("iterates", "Only {able} iterate and the routing is {routing}; leave out {option}.")
LEARNING = Kind("ascends", "Only {able} learn b and the routing is {routing}; leave out {option}.")
TEMPERED = Kind("tempered", "The warm-up belongs to {able} and the routing is {routing}; leave out {option}.")
PROXIMAL = Kind("proximal", "The proximal step belongs to {able} and the routing is {routing}; use routing {names}.")


def setting(default: Any, text: str, *limits: Limit, option: str = "", kind: Kind | None = None) -> Any:
    """A field of TrainingConfig. text: the help of its option, empty where the command writes that itself."""
    return field(default=default, metadata={"help": text, "limits": limits, "option": option, "kind": kind})


@dataclass(frozen=True)
class TrainingConfig:
    """One training run: the images, the network (capsviz.network.configure) and how its weights are found.

    What a field means is the help of its option (`capsviz train --help`), and beside that: the baseline without
    capsules has no decoder either way; `steps` wins over `epochs`; the learning rates, γ (`ascent_step`: Yang et al.
    2021, eq. 13) among them, are peaks and move alike (schedules.py); λ (`regularisation`: Yang, Li & Yu 2021, eq. 10
    and 14) is for an ascent gradient averaged over the batch; images are turned, scaled and sheared in one resampling;
    weight decay is that of Loshchilov & Hutter 2019; the averaged weights are also validated and tested; what is held
    out is the same for every seed; the precision "auto" is bf16-mixed where the device multiplies bfloat16 natively,
    else 32-true. Raises SettingsError, with one sentence, for a value outside its range.
    """

    data: str
    routing: str = field(metadata={"limits": (one_of(METHODS),)})
    preset: str = "compact"
    decoder: bool = setting(True, "Train without the reconstruction network.", option="--no-decoder")
    epochs: int = setting(10, "", at_least(1))
    steps: int | None = setting(None, "Steps, instead of epochs.", at_least(1))
    batch: int = setting(128, "", at_least(1))
    learning_rate: float = setting(1e-3, "Adam's peak learning rate.", RATE, option="--lr")
    schedule: str = setting("paper-fashion", f"{listed(SCHEDULES, 'or')}.", one_of(SCHEDULES))
    shift: int = setting(0, "Augment by random shifts of up to this many pixels.", at_least(0))
    mirror: bool = setting(False, "Augment by mirroring half of the images.")
    seed: int = setting(
        0, "Everything random follows from it.", at_least(0), Limit(lambda seed: seed < 2**63, "give less than 2**63")
    )
    precision: str = setting("auto", f"{listed(PRECISIONS, 'or')}.", one_of(PRECISIONS))
    ascent_step: float = setting(0.005, "the step of the coefficients' ascent.", RATE, option="--gamma", kind=LEARNING)
    regularisation: float = setting(1e-3, "lambda of the coefficients' objective.", at_least(0), kind=LEARNING)
    proximal: bool = setting(False, "soft threshold instead of the subgradient.", kind=PROXIMAL)
    validation_share: float = setting(
        1 / 12,
        "Part of the training set held out.",
        Limit(lambda share: 0 < share < 1, "give a share between 0 and 1"),
    )
    warm_up_steps: int | None = setting(
        None, "steps over which margin and lambda rise; half of all unless given.", at_least(1), kind=TEMPERED
    )
    iterations: int | None = setting(
        None,
        "routing iterations; the preset's unless given.",
        at_least(1),
        Limit(lambda iterations: iterations <= MOST_ITERATIONS, f"give at most {MOST_ITERATIONS}"),
        kind=ITERATING,
    )
    through: str | None = setting(
        None,
        f"iterations that gradients flow through, {listed(get_args(Through), 'or')}.",
        one_of(get_args(Through)),
        kind=ITERATING,
    )
    coefficient_start: float | None = setting(None, "around which b is drawn; 0.1 unless given.", kind=LEARNING)
    decoder_rate: float | None = setting(
        None, "Adam's peak learning rate for the decoder; the same unless given.", RATE, option="--decoder-lr"
    )
    cutout: int = setting(0, "Augment by blanking a random square of this many pixels a side.", at_least(0))
    rotate: float = setting(0.0, "Augment by random turns of up to so many degrees.", below(180.0))
    scale: float = setting(0.0, "Augment by random scaling by up to this share, such as 0.1.", below(1.0))
    shear: float = setting(0.0, "Augment by random shears of up to so many degrees.", below(90.0))
    weight_decay: float = setting(0.0, "Decoupled weight decay of matrices and kernels.", at_least(0))
    average: float = setting(0.0, "Decay of the moving average of the weights that is saved; 0: none.", below(1.0))

    def __post_init__(self) -> None:
        for each in fields(self):
            if isinstance(value := getattr(self, each.name), np.generic):  # of a sweep, as np.logspace gives it
                object.__setattr__(self, each.name, value.item())
        check(self, SettingsError)
        for each in fields(self):
            value = getattr(self, each.name)
            if value == each.default:
                continue
            for limit in each.metadata.get("limits", ()):
                if not limit.holds(value):
                    raise SettingsError(f"{_said(each.name)} is {value!r}; {limit.remedy}.")
            check_kind(each.name, self.routing)
        if self.decoder_rate is not None and not (self.method.has_capsules and self.decoder):
            raise SettingsError(NO_DECODER)
        if not (self.method.has_capsules or self.decoder):
            raise SettingsError(f"The {self.method.short} has no decoder to leave out; drop --no-decoder.")

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
        for each in fields(self):
            value = getattr(self, each.name)
            # Of a folder, what is not asked for is chosen by its size.
            chosen = value == each.default and not (self.is_folder and each.name == "batch")
            if each.name in ("data", "routing", "preset", "epochs", "steps") or chosen:
                continue
            option = OPTIONS[each.name]
            words += [option] if isinstance(value, bool) else [option, str(value)]
        return shlex.join(words)

    def to_dict(self) -> dict[str, Any]:
        """The fields, for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "TrainingConfig":
        """The config that `to_dict` gave; SettingsError when a field is unknown."""
        unknown = set(values) - {each.name for each in fields(cls)}
        if unknown:
            raise SettingsError(
                f"The run was made by another version of capsviz (unknown setting {min(unknown)!r}); train again."
            )
        return understood(cls, values, "The run's settings", "train again", SettingsError)


def check_kind(name: str, routing: str) -> None:
    """Raise SettingsError for a setting that is for other methods than that of a routing."""
    kind = TrainingConfig.__dataclass_fields__[name].metadata.get("kind")
    if kind and METHODS[routing] not in kind.methods:
        able = listed([method.short for method in kind.methods])
        names = " or ".join(method.name for method in kind.methods)
        raise SettingsError(kind.refusal.format(able=able, names=names, routing=routing, option=OPTIONS[name]))


def _said(name: str) -> str:
    """A field, and how the command line calls it where that is not by its name."""
    option = OPTIONS[name]
    return name if option.removeprefix("--").replace("-", "_") == name else f"{name} ({option})"


def slug(name: str) -> str:
    """A folder's name as a model's: letters, digits, dots and dashes."""
    return with_letters(name, "._", "-").strip("-.") or "images"


OPTIONS = {
    each.name: each.metadata.get("option") or "--" + each.name.replace("_", "-") for each in fields(TrainingConfig)
}
"""How the command line spells each field."""
