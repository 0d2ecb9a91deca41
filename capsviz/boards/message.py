"""What a board is given: fields and arrays in one packed message, which `frontend/core/message.ts` reads."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy import ndarray

_SIZE = np.dtype("<u4")
_KINDS = {"float16": "<f2", "float32": "<f4"}


@dataclass(frozen=True)
class Message:
    """Fields (what JSON can hold) and arrays (numbers of any shape, sent flat)."""

    fields: Mapping[str, Any]
    arrays: Mapping[str, ndarray]

    def only(self, kept: Callable[[str], bool]) -> Message:
        """The fields and arrays whose names are kept."""
        fields, arrays = (
            {name: each for name, each in some.items() if kept(name)} for some in (self.fields, self.arrays)
        )
        return Message(fields, arrays)

    def packed(self, **more: Any) -> bytes:
        """The bytes that go to the browser; more: further fields."""
        return pack({**self.fields, **more}, self.arrays)


def pack(fields: Mapping[str, Any], arrays: Mapping[str, ndarray]) -> bytes:
    """The length of a header (4 bytes, little-endian), the header (JSON), then the arrays, each filled up to 4 bytes.

    Arrays of float16 stay that, all others become float32.
    """
    kinds = {name: "float16" if array.dtype == np.float16 else "float32" for name, array in arrays.items()}
    named = [[name, kinds[name], int(array.size)] for name, array in arrays.items()]
    parts = [json.dumps({**fields, "arrays": named}).encode()]
    parts[0] += b" " * (-len(parts[0]) % 4)
    for name, array in arrays.items():
        numbers = np.ascontiguousarray(array, dtype=_KINDS[kinds[name]]).tobytes()
        parts.append(numbers + b"\0" * (-len(numbers) % 4))
    return np.array(len(parts[0]), _SIZE).tobytes() + b"".join(parts)


def unpack(packed: bytes) -> Message:
    """The fields of a packed message and its arrays, flat, float16 or float32."""
    start = _SIZE.itemsize + int(np.frombuffer(packed, _SIZE, 1)[0])
    fields = json.loads(packed[_SIZE.itemsize : start])
    arrays, at = {}, start
    for name, kind, count in fields.pop("arrays"):
        arrays[name] = np.frombuffer(packed, _KINDS[kind], count, at)
        at += arrays[name].nbytes + -arrays[name].nbytes % 4
    return Message(fields, arrays)
