"""A slice of `make fuzz`, and what it found."""

from __future__ import annotations

import signal
import time

import pytest

from app.components.routing_board import changes
from app.components.routing_toy import received_votes
from capsviz.errors import CapsvizError
from capsviz.tracing.intervention import Intervention
from tests.fuzz.__main__ import SHARES, run
from tests.fuzz.bounds import Tally

pytestmark = pytest.mark.long

SLICE = dict.fromkeys(SHARES, 40) | {"command lines": 3, "images": 120}
"""Inputs of each kind: about a hundredth of `make fuzz`."""


@pytest.mark.usefixtures("unchecked_types")
@pytest.mark.parametrize("name", SHARES)
def test_damaged_and_lying_inputs_are_values_or_sentences(name, monkeypatch, tmp_path):
    monkeypatch.setenv("CAPSVIZ_DATA", str(tmp_path))
    tally = run(name, SLICE[name], seed=1)
    assert tally.inputs and not tally.findings, tally.examples


def test_what_must_not_happen_is_found():
    def slow(given: object) -> None:
        until = time.process_time() + 0.3
        while time.process_time() < until:
            pass

    def many_lines(given: object) -> None:
        raise CapsvizError("one\ntwo")

    def large(given: object) -> None:
        bytearray(b"\1") * 500_000_000

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tests.fuzz.bounds.SECONDS", 0.1)
        patch.setattr("tests.fuzz.bounds.BYTES", 100_000_000)
        for act, said in ((slow, "0.1 s"), (many_lines, "line"), (large, "GB"), (lambda given: 1 / 0, "ZeroDivision")):
            tally = Tally("x")
            tally.take("x", act, None)
            assert any(said in what for what in tally.findings), (said, tally.findings)


def test_the_alarm_of_a_test_goes_on_behind_an_input():
    before = signal.setitimer(signal.ITIMER_REAL, 200, 300)
    try:
        Tally("x").take("x", lambda given: time.sleep(0.3), None)
        left, every = signal.getitimer(signal.ITIMER_REAL)
    finally:
        signal.setitimer(signal.ITIMER_REAL, *before)
    assert 190 < left <= 199.7 and every == 300


def test_numbers_larger_than_a_float_are_no_votes_and_no_look():
    assert received_votes([[[10**400, 0], [0, 0]]] * 2) is None
    look = {"turned": [10**400, 0], "zoom": 0, "bare": False, "absolute": False, "listed": None}
    assert changes({"look": look}, range(1152), 10, Intervention()) == {}
