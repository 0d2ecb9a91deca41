"""The sweep of the Viewpoint page: the image on stage under one change, over its whole range, through every method."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import replace

from app import scene
from app.scene import Scene
from app.shared import own_models, resources
from capsviz.analysis.viewpoint import Sweep, amounts, seen_by
from capsviz.boards.sweep import Swept, Swing
from capsviz.data.viewpoint import CHANGES, Viewpoint
from capsviz.network import METHODS, strongest
from capsviz.zoo import Entry


def compared(entry: Entry) -> list[Entry]:
    """A model for each method that reads the same images as the same classes, in the order of the methods.

    The model itself, else the first of its data set that draws, of its preset if there is one; a CNN of another data
    set stands in for one of its own.
    """
    baselines = [other for other in resources.all_entries().values() if not other.has_capsules]
    fits = [
        other
        for other in (*resources.peers(entry).values(), *baselines)
        if (other.data == entry.data or not other.has_capsules)
        and resources.alike(other, entry)
        and (not other.has_capsules or other.has_decoder)
    ]

    def distance(other: Entry) -> tuple[bool, ...]:
        elsewhere, unlike = other.data != entry.data, other.preset != entry.preset
        return other.name != entry.name, elsewhere, other.name in own_models.models(), unlike

    fits.sort(key=distance)
    found = {other.routing: other for other in reversed(fits)}
    return [found[routing] for routing in METHODS if routing in found]


def swing(current: Scene, entry: Entry) -> tuple[Swing, int]:
    """The sweep under the chosen change, drawn by `entry`, and the place of the amount on stage among its amounts."""
    choices, picture = current.choices, current.picture
    change = CHANGES[choices.change]
    others = replace(choices.viewpoint, **{change.name: change.neutral})
    now = getattr(choices.viewpoint, change.name)
    every = amounts(change)
    place = bisect_left(every, now)
    between = () if now in every else (now,)  # a link or a slider of the sidebar may have stood there
    pixels = picture.before.numpy().tobytes()

    def sweep(of: Entry, label: int) -> Sweep:
        whole = resources.sweep(of.name, pixels, label, others, change.name, every)
        one = resources.sweep(of.name, pixels, label, others, change.name, between) if between else None
        return whole.inserted(one, place) if one else whole

    shown = current.labels(entry.classes) or _named(entry, pixels, others, change.name, change.neutral)
    labels = tuple(sorted(shown, key=lambda label: label != choices.upper))  # the chosen one of several is followed
    networks = tuple(
        Swept(
            _title(each, entry),
            each.name,
            each.method.colour,
            sweep(each, labels[0]),
        )
        for each in compared(entry)
    )
    along = (*every[:place], *between, *every[place:])
    return Swing(
        change,
        along,
        seen_by(picture.before, others, change.name, along),
        entry.classes,
        labels,
        networks,
        next(each for each in networks if each.name == entry.name),
        next((each for each in networks if not resources.all_entries()[each.name].has_capsules), None),
        entry.objects,
    ), place


def _title(each: Entry, entry: Entry) -> str:
    """What a method is called beside `entry`, with what sets its model apart."""
    apart = each.name if each.data != entry.data else each.preset if each.preset != entry.preset else ""
    return f"{each.short} ({apart})" if apart else each.short


def _named(entry: Entry, pixels: bytes, others: Viewpoint, change: str, neutral: float) -> tuple[int, ...]:
    """The classes that a model names, as many as its images show, where nothing says what this one shows."""
    found = resources.sweep(entry.name, pixels, 0, others, change, (neutral,)).activations
    return tuple(strongest(found, entry.objects)[0].tolist())


def left(change: str, amount: float) -> None:
    """Keep the amount at which the visitor left the sweep: the viewpoint of all pages."""
    scene.keep(viewpoint=replace(scene.choices().viewpoint, **{change: round(amount, 2)}))
