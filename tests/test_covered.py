"""The table of what the tests run counts lines and branches together, folder by folder."""

from __future__ import annotations

from tests import covered


def counts(lines: int, run: int, branches: int, taken: int) -> dict:
    return {"summary": dict(zip(covered.COUNTED, (lines, run, branches, taken), strict=True))}


def test_files_of_a_folder_are_summed_and_the_whole_is_held_against_what_is_asked():
    files = {
        "app/a.py": counts(60, 60, 20, 16),
        "app/b.py": counts(15, 15, 5, 4),
        "app/state/c.py": counts(10, 0, 0, 0),
    }
    found = covered.rows(files)
    assert [covered.share(row) for row in found] == [95.0, 0.0]
    table = covered.table({"rows": found, "machine": "x"})
    assert "| `app/` | 75 | 25 | 95.00 % |" in table and "| all | 85 | 25 | 86.36 % |" in table
    assert table.endswith("86.36 % of lines and branches, 95 % asked for: missed; on x.")
    assert "asked for: met" in covered.table({"rows": found[:1], "machine": "x"})
