"""Write docs/results.md and the tables of docs/models.md, docs/speed.md and docs/reliability.md: `make tables`.

They come from the manifest and the result files; nothing is measured.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from app.benchmarks import live
from app.benchmarks.load import report
from capsviz import zoo
from capsviz.benchmarks import peak, speed
from capsviz.experiments import results
from capsviz.experiments.reports import document
from tests import covered
from tests.fuzz.report import table as fuzzed
from tests.mutation import report as mutation

DOCS = Path(__file__).resolve().parent


def measured(name: str) -> dict[str, Any]:
    """A result that is in the repository."""
    found = results.read(name)
    assert found is not None, f"there is no result {name}"
    return found


def tables() -> dict[str, dict[str, str]]:
    """The tables of each page, with the sentences below them, each by how its first line begins."""
    return {
        "models.md": {"| model | data | routing |": zoo.markdown()},
        "speed.md": {
            "| `paper`, 2 cores |": speed.table(measured("speed-paper")),
            "| `residual`, 2 cores |": speed.table(measured("speed-residual")),
            "| `paper`, NVIDIA H200 |": speed.table(measured("speed-paper-cuda")),
            "| `capsviz benchmark memory` |": peak.table(measured("memory")),
            "| measured | times |": live.table(measured("app")),
        },
        "reliability.md": {
            "| read | inputs |": fuzzed(measured("fuzz")),
            report.HEAD: report.table(measured("load")),
            "| run by the tests |": covered.table(measured(covered.NAME)),
            "| module | changes |": mutation.table(measured("mutation")),
            "| lines | was → became |": mutation.survivors(measured("mutation")),
        },
    }


def main() -> None:
    """Replace the tables, and nothing else."""
    (DOCS / "results.md").write_text(document() + "\n", encoding="utf-8")
    for name, found in tables().items():
        page = (DOCS / name).read_text(encoding="utf-8")
        for beginning, table in found.items():
            more = table.count("\n\n")  # the sentences below it
            place = re.compile(
                rf"^{re.escape(beginning)}(?:.*?\n\n){{{more}}}.*?(?=\n\n|\n\Z)", re.MULTILINE | re.DOTALL
            )
            page, count = place.subn(table.replace("\\", r"\\"), page)
            assert count == 1, f"docs/{name} has no place for the table that begins with {beginning!r}"
        (DOCS / name).write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
