"""What is packed for the browser comes out of it again."""

from __future__ import annotations

import numpy as np
import pytest

from capsviz.boards.message import Message, pack, unpack


def test_fields_and_arrays_come_out_as_they_went_in():
    arrays = {
        "matrix": np.arange(6, dtype=float).reshape(2, 3),
        "halves": np.array([0.5, -2, 65504], np.float16),
        "none": np.zeros((0, 4)),
        "last": np.array([np.nan, np.inf, 1e-3], np.float32),
    }
    message = unpack(pack({"title": "û·v, 3 × 4", "some": [1, None, {"x": 0.1}]}, arrays))
    assert message.fields == {"title": "û·v, 3 × 4", "some": [1, None, {"x": 0.1}]}
    assert list(message.arrays) == list(arrays)
    for name, array in message.arrays.items():
        np.testing.assert_array_equal(array, arrays[name].ravel().astype(array.dtype))
    assert message.arrays["halves"].dtype == np.float16 and message.arrays["matrix"].dtype == np.float32


@pytest.mark.parametrize("letters", range(5))
def test_every_array_begins_where_a_float32array_may(letters: int):
    packed = pack({"text": "x" * letters}, {"halves": np.ones(3, np.float16), "numbers": np.ones(2)})
    assert len(packed) % 4 == 0
    np.testing.assert_array_equal(np.frombuffer(packed[-8:], "<f4"), [1, 1])


def test_what_a_host_adds_goes_along():
    message = Message({"upper": 3, "frame": None}, {"x": np.ones(2)})
    assert unpack(message.packed(frame=4)).fields == {"upper": 3, "frame": 4}
