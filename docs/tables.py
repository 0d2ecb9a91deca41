"""Write the tables of README.md and docs/results.md from the manifest and the result files: `make tables`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from capsviz import zoo
from capsviz.benchmarks import app, speed
from capsviz.experiments import results
from capsviz.experiments.reports import document, report

ROOT = Path(__file__).resolve().parents[1]
SHOWN = ("table", "convergence", "cost", "robustness", "multi-mnist")
"""Experiments whose reports stand in the README; docs/results.md has all of them."""
PICTURES = {"multi-mnist": "docs/images/multi-mnist-light.png"}
"""Experiments whose page the README shows."""


def section(name: str) -> str:
    """An experiment as the README shows it."""
    found = report(name)
    said = "\n".join(f"- {sentence}" for sentence in found.sentences)
    picture = f"![{found.question}]({PICTURES[name]})" if name in PICTURES else ""
    parts = (f"### {found.title}", picture, found.markdown, said, f"{found.conditions}.")
    return "\n\n".join(part for part in parts if part)


def measured(name: str) -> dict[str, Any]:
    """A result that is in the repository."""
    found = results.read(name)
    assert found is not None, f"there is no result {name}"
    return found


def main() -> None:
    """Replace the tables, and nothing else."""
    (ROOT / "docs" / "results.md").write_text(document() + "\n", encoding="utf-8")
    path = ROOT / "README.md"
    readme = path.read_text(encoding="utf-8")
    models = re.compile(r"^\| model \| data \| routing \|.*?(?=\n\n)", re.MULTILINE | re.DOTALL)
    reports = re.compile(r"^### Table II.*?(?=\n\n## Speed)", re.MULTILINE | re.DOTALL)
    speeds = re.compile(r"^\| measured \| ms per batch \|.*?(?=\n\n`capsviz benchmark app`)", re.MULTILINE | re.DOTALL)
    waits = re.compile(r"^\| measured \| times \|.*?(?=\n\n## How it is built)", re.MULTILINE | re.DOTALL)
    written = (
        (models, zoo.markdown().strip()),
        (reports, "\n\n".join(map(section, SHOWN))),
        (speeds, speed.table(measured("speed-paper"))),
        (waits, app.table(measured("app"))),
    )
    for pattern, text in written:
        readme, count = pattern.subn(lambda _, text=text: text, readme)
        assert count == 1, f"README.md has no place for what begins with {text[:30]!r}"
    path.write_text(readme, encoding="utf-8")


if __name__ == "__main__":
    main()
