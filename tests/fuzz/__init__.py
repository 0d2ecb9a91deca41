"""Damaged and lying inputs in great number: `python -m tests.fuzz`, and a slice of them in `tests/test_fuzz.py`.

Structure is hypothesis's, bytes are those of `damage`. What comes out of each input is a value or a `CapsvizError` of
one line, within `bounds.SECONDS` and `bounds.BYTES`; anything else is a finding, with the seed that brings it back.
"""
