"""What was freed goes back to the system, in a process of its own: mallopt holds for the whole process."""

from __future__ import annotations

import sys

import pytest

from tests.programs import printed

FREED = """
from pathlib import Path
from app.server import heap

def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

heap.keep_small()
kept = [bytearray(300_000) for _ in range(1000)]
before = resident()
kept = kept[::100]
heap.trim()
print(before - resident())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="of the GNU C library")
def test_what_lies_between_things_that_are_kept_is_given_back():
    assert int(printed(FREED)) > 200e6
