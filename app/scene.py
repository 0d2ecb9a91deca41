"""What is on stage: the choices of the URL with the model, the image and the traces that they stand for."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from typing import Literal, NoReturn

import streamlit as st

from app.components import page_link
from app.page.text import plain, sentence
from app.shared import caching, resources
from app.shared.caching import of_zoo
from app.sources import browsing, images, linked_picture, trace_sets, uploads
from app.sources.picture import Picture
from app.state import capsule_sets, leaving, session
from app.state.choices import DECLARED, MAX_ITERATIONS, Catalogue, Choices
from capsviz import data, zoo
from capsviz.data import DIGITS, MNIST
from capsviz.errors import CapsvizError
from capsviz.network import preset
from capsviz.routing import ALGORITHMS
from capsviz.routing.discriminative import L2
from capsviz.routing.dynamic import DYNAMIC
from capsviz.routing.em import EM
from capsviz.tracing import adopting
from capsviz.tracing.intervention import UNTOUCHED, Intervention
from capsviz.tracing.layout import TraceError
from capsviz.tracing.recorder import contains_shorter
from capsviz.tracing.trace import Trace
from capsviz.zoo import AtStep, Entry

TOUR = "tour-fragment"
"""Key of the fragment that shows the words of a tour's step."""
AS_TRAINED = ("perturb", "compare", "basics", "viewpoint")
"""The pages that say nothing of T and λ, and on which every model therefore runs with its own."""
DRAWN = ("perturb", "viewpoint")
"""Those of them whose model has to have a decoder."""

TALK = "talk-fragment"
"""Key of the fragment of the sidebar's link to the visitor's own talk, and of whether the page has it."""


class SceneError(CapsvizError):
    """A page cannot be shown with what is on this machine."""


class NoModel(SceneError):
    """No model here takes the image on stage; instead: the first one of other images that would do, if any."""

    def __init__(self, said: str, instead: Entry | None) -> None:
        super().__init__(said)
        self.instead = instead


@dataclass(frozen=True)
class Scene:
    """The choices, resolved."""

    choices: Choices
    entry: Entry
    picture: Picture
    notices: tuple[str, ...]
    """Sentences on what in the link could not be met."""
    dark: bool
    as_trained: bool = False
    """Whether T and λ are the models' own, whatever is chosen."""

    def sibling(self, routing: str, *, of: Entry | None = None, decoder: bool = False) -> tuple[Entry, str]:
        """The model to run on a page about `routing`, and a sentence where it is not the chosen one.

        The chosen model itself (or `of`), else one of the same data set, else one of another set that takes the same
        images. decoder: it has to reconstruct. Raises NoModel where there is none.
        """
        base = of or self.entry
        if base.routing == routing and (base.has_decoder or not decoder):
            return base, ""
        self._check_image()
        suited = [
            entry
            for entry in resources.peers(base).values()
            if entry.routing == routing and (entry.has_decoder or not decoder)
        ]
        able = [entry for entry in suited if entry.config.image == base.config.image]
        instead = next(iter(suited), None)
        title, own = ALGORITHMS[routing].title, data.title_of(base.data)
        if not able and not resources.has_network(base):
            raise NoModel(
                f"{resources.ABSENT.format(name=base.name)}, and no {title} model here takes its images; see the page "
                f"about {base.method.title}.",
                instead,
            )
        training = trains_one(base.data, routing)
        if not able:
            wanted = "takes these images and has a decoder" if decoder else "takes these images"
            trainable = not decoder or preset("compact", base.data, routing, image=base.config.image).decoder
            remedy = training if training and trainable else f"choose a model of another data set than {own}"
            raise NoModel(f"No {title} model that {wanted} is here; {remedy}.", instead)
        near = (base.data, DIGITS.name)
        # Of the same preset it has the same grid of capsules, without which no map compares them.
        entry = min(
            able,
            key=lambda each: (
                *(each.data != name for name in near),
                each.classes != base.classes,
                not each.has_decoder,
                each.preset != base.preset,
            ),
        )
        own_ones = (each for each in resources.peers(base).values() if each.data == base.data)
        if resources.has_network(base) and all(each.routing != routing for each in own_ones):
            missing = f"There is no {title} model of {plain(own)} here yet"
            runs = f"so **{plain(entry.name)}** runs on the same image"
            return entry, f"{missing}, {runs}{f' ({training})' * bool(training)}."
        runs = f"here **{plain(entry.name)}** runs on the same image"
        if not resources.has_network(base):
            return entry, f"{resources.ABSENT.format(name=plain(base.name))}; {runs}."
        why = "has no decoder" if base.routing == routing else f"is {base.method.title}"
        return entry, f"{plain(base.name)} {why}; {runs}."

    def has(self, routing: str) -> bool:
        """Whether a model here takes the image on stage under a routing."""
        try:
            self.sibling(routing)
        except SceneError:
            return False
        return True

    def on_page(self, page: str) -> tuple[Entry, str]:
        """As `sibling`, under the algorithm that the page is about; the chosen model where it is about none.

        Of several algorithms the chosen penalty, else the chosen model's, else the first; where no model here takes the
        image under that one, the next, and what is said then begins with what is missing.
        """
        about = [algorithm.name for algorithm in ALGORITHMS.values() if algorithm.page == page]
        wanted = [name for name in (self.choices.penalty, self.entry.routing, *about) if name in about]
        first, *others = dict.fromkeys(wanted or [self.entry.routing])
        try:
            return self.sibling(first)
        except SceneError as missing:
            instead = next((name for name in others if self.has(name)), None)
            if instead is None:
                raise
            entry, said = self.sibling(instead)
            return entry, f"{sentence(str(missing))} Here it is {ALGORITHMS[instead].title}. {said}".strip()

    def iterated(self, page: str) -> Entry:
        """The model whose T a page lets choose: the one that it runs, or that of dynamic routing beside it.

        Raises NoModel where there is none.
        """
        entry, _ = self.on_page(page)
        beside = page == L2.page and self.choices.votes == "own"
        return self.sibling(DYNAMIC.name, of=entry)[0] if beside else entry

    def squashing(self) -> tuple[Entry, str]:
        """As `sibling`, the chosen model where it squashes, else one that does."""
        return self.sibling(self.entry.routing if self.entry.config.algorithm.squashed else DYNAMIC.name)

    def drawing(self) -> tuple[Entry, str]:
        """As `sibling`, the chosen model where it has a decoder, else one of its algorithm that has one."""
        return self.sibling(self.entry.routing, decoder=True)

    def running(self, page: str) -> Entry:
        """The model that a page runs. Raises NoModel where there is none."""
        if page == "basics":
            return self.squashing()[0]
        return self.drawing()[0] if page in DRAWN else self.on_page(page)[0]

    def looked_at(self, page: str) -> Trace:
        """The trace whose upper capsules a page shows, of EM that of the chosen layer. Raises as `trace` does."""
        trace = self.trace(self.running(page), touched=page in (DYNAMIC.page, EM.page))
        return trace.at(*layer_of(self.choices, trace)) if page == EM.page else trace

    def trace(self, entry: Entry, *, touched: bool = False) -> Trace:
        """The image through a model, recorded; the chosen iterations count where the routing has any.

        touched: with the visitor's intervention, where the model has the capsules that it names.
        """
        return self.trace_of(entry, self.picture, touched=touched)

    def trace_of(self, entry: Entry, picture: Picture, *, touched: bool = False, longest: bool = False) -> Trace:
        """As `trace`, of any picture that the model takes.

        longest: with all iterations that the visitor may choose, where it contains the routing of fewer; what is read
        from a recording has those that were recorded.
        """
        iterations = self._iterations(entry)
        if longest and picture.recording is None and iterations and contains_shorter(entry.config):
            iterations = max(MAX_ITERATIONS, iterations)
        intervention = self.intervention(entry) if touched else UNTOUCHED
        if picture.recording and not intervention and self.replays(entry, picture):
            return trace_sets.trace(*picture.recording, iterations)
        if not resources.has_network(entry):
            raise SceneError(f"{resources.ABSENT.format(name=entry.name)}; take back the viewpoint.")
        if picture is self.picture:
            self._check_image()
        return resources.trace(entry.name, picture.key, iterations, intervention, self._temperature(entry))

    def _check_image(self) -> None:
        """Raise NoModel where all that was recorded of the image on stage is what a network that is not here did."""
        if not resources.has_network(self.entry) and not self.picture.before.any():
            raise NoModel(f"{images.NO_IMAGE} {images.OTHER_IMAGE}", None)

    def same_votes(self, entry: Entry, routing: str, *, touched: bool = False, longest: bool = False) -> Trace:
        """The votes of a model for the image on stage, routed by another algorithm; touched, longest: as in `trace_of`.

        Raises AdoptError where the trace of a network that is not here holds no votes.
        """
        iterations = max(MAX_ITERATIONS * longest, self.rounds(entry))
        if not resources.has_network(entry):
            return adopting.same_votes(self.trace(entry, touched=touched), routing, iterations=iterations)
        intervention = self.intervention(entry) if touched else UNTOUCHED
        return resources.same_votes(entry.name, self.picture.key, intervention, routing, iterations)

    def replays(self, entry: Entry, picture: Picture | None = None) -> bool:
        """Whether the trace of a model, untouched, is read from a recording; of the picture on stage unless given."""
        shown = picture or self.picture
        tempered = self._temperature(entry) is not None
        if shown.recording is None or (tempered and resources.has_network(entry)):
            return False
        return trace_sets.holds(shown.recording[0], entry, self._iterations(entry))

    def rounds(self, entry: Entry) -> int:
        """T: the chosen one where it counts, else what the model was trained with; of what was recorded where the model
        is not here.
        """
        wanted = (not self.as_trained and self.choices.iterations) or entry.config.iterations
        return trace_sets.rounds(entry, wanted) if _bound(entry) else wanted

    def most(self, entry: Entry) -> int:
        """The largest T that may be chosen; 1, which is no choice, where the model is not here and what was recorded
        contains no routing of fewer.
        """
        if not _bound(entry):
            return max(MAX_ITERATIONS, entry.config.iterations)
        return entry.config.iterations if contains_shorter(entry.config) else 1

    def _iterations(self, entry: Entry) -> int | None:
        return self.rounds(entry) if entry.method.iterates else None

    def _temperature(self, entry: Entry) -> float | None:
        return self.choices.temperature if entry.config.algorithm.tempered and not self.as_trained else None

    def intervention(self, entry: Entry) -> Intervention:
        """The visitor's intervention as far as the model has the capsules; none in a network that is not here."""
        if not resources.has_network(entry):
            return UNTOUCHED
        return self.choices.touched.without(range(entry.config.lower, capsule_sets.MOST))

    def capsule(self, entry: Entry) -> int | None:
        """The primary capsule to look at, None where nobody chose one that the model has."""
        chosen = self.choices.capsule
        return None if chosen is None or chosen >= entry.config.lower else chosen

    def labels(self, classes: tuple[str, ...]) -> tuple[int, ...]:
        """What the image shows, among these classes; empty where they are others than the model's, or nobody knows."""
        return self.picture.labels if classes == self.entry.classes else ()

    def upper(self, trace: Trace) -> int:
        """The upper capsule to look at, in a convolutional layer a type: the chosen one, else the most active one."""
        chosen = getattr(self.choices, upper_field(trace))
        return int(trace.predicted[0]) if chosen is None or chosen >= len(trace.classes) else chosen


def upper_field(trace: Trace) -> Literal["upper", "kind"]:
    """The choice that says which upper capsule of a trace to look at."""
    return "kind" if trace.kind == "type" else "upper"


def layer_of(choices: Choices, trace: Trace) -> tuple[int, int]:
    """The routed layer to look at, and the position of its upper capsules: the chosen ones, else the last layer's."""
    count = len(trace.layers)
    layer = count - 1 if choices.layer is None or choices.layer >= count else choices.layer
    rows, columns, _ = trace.layers[layer].upper_grid
    middle = rows // 2 * columns + columns // 2
    position = choices.position
    return layer, middle if position is None or position >= rows * columns else position


def trains_one(name: str, routing: str) -> str:
    """Which command trains a model of a data set, in Markdown; "" where nothing is known here of the images."""
    known = data.known(name) is not None
    return f"`capsviz train --data {shlex.quote(name)} --routing {routing}` trains one" if known else ""


def keep(*fragments: str, **changes: object) -> None:
    """Write changed choices to the URL as it is now, and run the page again; to be called from a callback.

    fragments: these run again alone, as in `draw`, for changes that nothing else on the page depends on. Without them
    the whole page does: left to itself, a callback in a fragment would have that fragment alone run again. Nothing
    runs again for them where nothing is written, since the page is being left.
    """
    session.update(choices(), **changes)
    if leaving.lasts():
        return
    if fragments:
        draw(*fragments)
    st.rerun()


def draw(*fragments: str) -> NoReturn:
    """Run fragments again alone, and with them what tells of the choices on every page: links and the tour's words."""
    talk = [TALK] if st.session_state.get(TALK) else []
    st.rerun([page_link.WHERE, TOUR, *talk, *fragments])


def model_changes(name: str, choices: Choices, stage: Entry | None = None) -> dict[str, object]:
    """Another model: of the same data set it keeps the image on stage, of another the visitor's picture.

    stage: what the chosen name stood for, where another model has it now.
    """
    entries = resources.entries()
    stage = stage or entries[choices.model]
    changes: dict[str, object] = {"model": name, "picture": uploads.again(choices.picture, entries[name])}
    if name == choices.model:
        changes["penalty"] = ""  # which had put another one on stage
    if left := trace_sets.left(choices.source, choices.recording):  # it would stand in for the model all the same
        return changes | left | {"source": "data"}
    if entries[name].data != stage.data:
        return changes
    keep: tuple[str, ...] = ("source", "data", "split", "recording", "only", "image", "over")
    keep += ("upper", "pair", "method", "cell")
    if name != choices.model and trained(entries[name]) == trained(stage):
        # The same network, earlier or later: nothing in it is numbered otherwise.
        keep = (*keep, *DECLARED["model"].resets)
    changes |= {field: getattr(choices, field) for field in keep}
    generated = images.source_of(choices, stage) == "generated" and not entries[name].has_decoder
    there = name != choices.model  # else the network on stage is gone, and only its name is left
    if generated and there and not linked_picture.coarser(stage.config.image):
        # By the network on stage: for one that draws nothing a picture like any other.
        drawn = images.generated(stage, images.index_of(choices, stage)).pixels
        changes |= {"source": "upload", "picture": linked_picture.written(drawn), "image": None, "only": None}
    return changes


def trained(entry: Entry) -> str:
    """The model that an entry is, or was early in its training."""
    return entry.trained if isinstance(entry, AtStep) else entry.name


def own_or(iterations: int, *entries: Entry) -> int | None:
    """T as a choice: None where it is what all models on stage were trained with, so that links stay short.

    Also beyond what a link may say, which a model is not asked for unless it was trained with it.
    """
    own = all(iterations == entry.config.iterations for entry in entries)
    return None if own or iterations > MAX_ITERATIONS else iterations


@of_zoo(most=2)
def catalogue() -> Catalogue:
    """What may be chosen on this machine; start with MNIST where it is here. Raises ZooError, SceneError."""
    entries = resources.entries()
    if not entries:
        for said in zoo.unrouted().values():
            raise SceneError(said)
        raise SceneError(
            f"There is no model in {zoo.folder()}; get the repository whole, or train one with `capsviz train`."
        )
    wanted = ["mnist-dr-paper", "digits-dr"] if browsing.here(MNIST.name) else ["digits-dr"]
    start = next((name for name in wanted if name in entries), next(iter(entries)))
    classes = {name: len(entry.classes) for name, entry in entries.items()}
    moved = {old: new for old, new in zoo.successors().items() if new in entries}
    types = {
        name: max(layer.types for layer in entry.config.capsule_layers)
        for name, entry in entries.items()
        if entry.config.capsule_layers
    }
    others = tuple(name for name, entry in resources.all_entries().items() if not entry.has_capsules)
    of_form: dict[tuple[int, ...], int] = {}
    for entry in entries.values():
        of_form[entry.config.image] = max(of_form.get(entry.config.image, 0), len(entry.classes))
    most = {name: of_form[entry.config.image] for name, entry in entries.items()}
    return Catalogue(start, classes, browsing.names(), moved, types, most, others, zoo.unrouted())


def choices() -> Choices:
    """The choices of the link, without a recording that cannot be read. Raises ZooError, SceneError."""
    return _met()[0]


def _met() -> tuple[Choices, tuple[str, ...], Entry | None]:
    """The choices, a sentence on each that means nothing, and the chosen recording's network where that is not here."""
    wanted, notices = session.parse(session.here(), catalogue())
    try:
        return wanted, notices, trace_sets.absent(wanted.source, wanted.recording)
    except TraceError as error:  # damage that opening it did not show
        return replace(wanted, source="data", recording=""), (*notices, str(error)), None


def current() -> Scene:
    """The scene that the URL stands for. Raises ZooError, DatasetMissing, SceneError."""
    caching.begin_page()
    wanted, notices, recorded = _met()
    entry = recorded or resources.entries()[wanted.model]
    picture, more = images.resolve(wanted, entry)
    notices = (*notices, *more, *_left_out(wanted, entry))
    return Scene(wanted, entry, picture, notices, st.context.theme.type == "dark", session.page() in AS_TRAINED)


def _bound(entry: Entry) -> bool:
    """Whether no more iterations of a routing can be shown than were recorded."""
    return entry.method.iterates and not resources.has_network(entry)


def _left_out(choices: Choices, entry: Entry) -> tuple[str, ...]:
    """A sentence where the choices ask for what a network computes that is not here."""
    if resources.has_network(entry):
        return ()
    asked = []
    wanted = choices.iterations
    if _bound(entry) and wanted and trace_sets.rounds(entry, wanted) != wanted:
        asked.append(f"T = {wanted}")
    if entry.config.algorithm.tempered and choices.temperature is not None:
        asked.append(f"λ = {choices.temperature:g}")
    if choices.touched:
        asked.append("what is muted, boosted or isolated")
    return (f"{resources.ABSENT.format(name=entry.name)}; left out: {', '.join(asked)}.",) if asked else ()
