"""Draw docs/images/architecture.svg from the imports of capsviz/ and app/: `make architecture`.

A box is the app, the command line, or a package or module of the library; those that import one another share a box. A
line leads down to what is imported, and is left out where a longer way leads there as well.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from html import escape
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FIGURE = ROOT / "docs" / "images" / "architecture.svg"
PACKAGES = ("app", "capsviz")
EVERYWHERE = {"capsviz", "capsviz.errors", "capsviz.places", "capsviz.terminal"}
"""The package's front and what any module may import; lines to them would say nothing."""
BOX, GAP, ROW, MARGIN = (152, 34), 18, 84, 16
Graph = dict[str, set[str]]


def modules() -> dict[str, Path]:
    """Every module by its dotted name."""
    files = (path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
    return {".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path for path in files}


def box_of(module: str) -> str:
    """The box of a module: the app, the command line, else its package or itself within the library."""
    package, *within = module.split(".")
    if package != "capsviz" or not within:
        return package
    return "capsviz.commands" if within[0].startswith("__") else f"capsviz.{within[0]}"


def imported(path: Path, known: dict[str, Path]) -> Iterator[str]:
    """The modules of ours that a file imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom) and node.module in known:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in known else node.module


def graph() -> Graph:
    """Which box imports from which."""
    known = modules()
    found: Graph = {box_of(name): set() for name in known}
    for name, path in known.items():
        for other in imported(path, known):
            found[box_of(name)].add(box_of(other))
    return {name: others - EVERYWHERE - {name} for name, others in found.items() if name not in EVERYWHERE}


def reachable(start: str, edges: Graph) -> set[str]:
    """Every box that a way leads to."""
    seen: set[str] = set()
    waiting = [start]
    while waiting:
        for other in edges[waiting.pop()] - seen:
            seen.add(other)
            waiting.append(other)
    return seen


def united(edges: Graph) -> Graph:
    """The graph of boxes without circles: those that import one another are one, called by all their names."""
    far = {name: reachable(name, edges) for name in edges}
    one = {name: " + ".join(sorted({name} | {other for other in far[name] if name in far[other]})) for name in edges}
    joined: Graph = {name: set() for name in one.values()}
    for name, others in edges.items():
        joined[one[name]] |= {one[other] for other in others} - {one[name]}
    return joined


def needed(edges: Graph) -> Graph:
    """The lines to draw: those to boxes that nothing else which is imported leads to."""
    far = {name: reachable(name, edges) for name in edges}
    return {name: {to for to in others if all(to not in far[by] for by in others)} for name, others in edges.items()}


def rows(edges: Graph) -> list[list[str]]:
    """The boxes from above to below: each as low as all that import it allow, beside its neighbours above."""
    importers = {name: {by for by, others in edges.items() if name in others} for name in edges}
    height: dict[str, int] = {}

    def row(name: str) -> int:
        if name not in height:
            height[name] = 1 + max((row(by) for by in importers[name]), default=-1)
        return height[name]

    found: list[list[str]] = [[] for _ in range(1 + max(map(row, edges)))]
    for name in sorted(edges):
        found[height[name]].append(name)
    for above, names in pairwise(found):
        place = {name: (index + 0.5) / len(above) for index, name in enumerate(above)}
        known = {name: [place[by] for by in importers[name] if by in place] for name in names}
        names.sort(key=lambda name: sum(known[name]) / len(known[name]) if known[name] else 0.5)
    return found


def svg() -> str:
    """The figure."""
    edges = needed(united(graph()))
    levels = rows(edges)
    wide, high = BOX
    broad = {name: wide * (1 + name.count(" + ")) for names in levels for name in names}
    across = max(sum(broad[name] + GAP for name in names) for names in levels) + 2 * MARGIN
    down = ROW * (len(levels) - 1) + high + 2 * MARGIN
    place: dict[str, tuple[float, float]] = {}
    for level, names in enumerate(levels):
        x = (across - sum(broad[name] + GAP for name in names) + GAP) / 2
        for name in names:
            place[name] = (x + broad[name] / 2, MARGIN + level * ROW)
            x += broad[name] + GAP
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {across} {down}" '
        'font-family="sans-serif" font-size="13">',
        f'<rect width="{across}" height="{down}" fill="#ffffff"/>',
    ]
    for name in sorted(edges):
        x, y = place[name]
        bottom = y + high
        for to in sorted(edges[name]):
            end, top = place[to]
            parts.append(
                f'<path d="M{x:g} {bottom:g} C{x:g} {bottom + 40:g} {end:g} {top - 40:g} {end:g} {top:g}" '
                'fill="none" stroke="#8a94a8"/>'
            )
    for name, (x, y) in place.items():
        box = f'x="{x - broad[name] / 2:g}" y="{y:g}" width="{broad[name]}" height="{high}" rx="6"'
        said = escape(name.replace("capsviz.", ""))
        parts.append(f'<rect {box} fill="#eef2fb" stroke="#2f55c8"/>')
        parts.append(f'<text x="{x:g}" y="{y + high / 2 + 5:g}" text-anchor="middle" fill="#1a1f2b">{said}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def main() -> None:
    """Write the figure."""
    FIGURE.write_text(svg(), encoding="utf-8")


if __name__ == "__main__":
    main()
