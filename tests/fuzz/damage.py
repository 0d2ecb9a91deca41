"""Damage to bytes and to what JSON holds: seeded, so that a number brings a file back."""

from __future__ import annotations

import copy
import json
import zlib
from random import Random
from typing import Any

from capsviz.tensors import BLANK, CHECKSUM, LENGTH

NUMBERS = (0, 1, -1, -5, 2**31, 2**53, 2**63, 10**30, 0.5, -0.0, 1e308, 10**5)
WORDS = ("", " ", "../x", "/etc/passwd", "a" * 10_000, "\x00", "\n", "\u202e", "é", "{", "nan", "<b>", "$x$")
INTERESTING = (
    b"\x00",
    b"\xff",
    b"\x7f",
    b"\x80",
    b"\xff\xff\xff\xff",
    b"\x00\x00\x00\x80",
    b"[" * 2000,
    b"NaN",
    b"1e9",
)


def of_bytes(content: bytes, random: Random) -> bytes:
    """One to six changes: flipped, cut, doubled, overwritten, inserted."""
    found = bytearray(content)
    for _ in range(random.choice((1, 1, 1, 2, 3, 6))):
        if not found:
            return bytes(random.randrange(256) for _ in range(random.randrange(20)))
        # Most of what there is to lie about stands at the beginning.
        at = random.randrange(min(len(found), random.choice((16, 64, 2000, len(found)))))
        length = random.choice((1, 2, 4, 16, 200, len(found)))
        match random.randrange(6):
            case 0:
                found[at] ^= 1 << random.randrange(8)
            case 1:
                del found[at : at + length]
            case 2:
                found[at:at] = found[at : at + min(length, 1000)]
            case 3:
                new = random.choice(INTERESTING)
                found[at : at + len(new)] = new
            case 4:
                found[at:at] = random.choice(INTERESTING)
            case _:
                del found[at:]
    return bytes(found)


def of_json(said: Any, random: Random) -> Any:
    """One to three places of nested objects changed, left out, doubled or nested deeper."""
    found = copy.deepcopy(said)
    for _ in range(random.choice((1, 1, 2, 3))):
        holder: Any = found
        while isinstance(holder, (dict, list)) and holder:
            key = random.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
            if isinstance(holder[key], (dict, list)) and holder[key] and random.random() < 0.75:
                holder = holder[key]
                continue
            match random.randrange(8):
                case 0:
                    del holder[key]
                case 1 if isinstance(holder, list):
                    holder.extend(holder[:1000])
                case 1 if isinstance(holder, dict):
                    holder[random.choice(WORDS)] = holder[key]
                case 2:
                    holder[key] = nested(random.choice((3, 50, 400)))
                case _:
                    holder[key] = value(random)
            break
    return found


def value(random: Random) -> Any:
    """Something that JSON can say."""
    return random.choice((*NUMBERS, *WORDS, None, True, False, [], {}, [0], {"a": 1}, [[1, 2], [3]], ["a"] * 50))


def nested(depth: int) -> Any:
    """Lists in lists."""
    found: Any = 0
    for _ in range(depth):
        found = [found]
    return found


def with_header(content: bytes, random: Random, key: str) -> bytes:
    """A file of tensors whose own header, JSON in its metadata under a key, was changed, its checksum put right."""
    length = int.from_bytes(content[:LENGTH], "little")
    header = json.loads(content[LENGTH : LENGTH + length])
    if random.random() < 0.3:
        tensors = {name: each for name, each in header.items() if name != "__metadata__"}
        header = {"__metadata__": header["__metadata__"], **of_json(tensors, random)}
    else:
        header["__metadata__"][key] = json.dumps(of_json(json.loads(header["__metadata__"][key]), random))
    return sealed(header, content[LENGTH + length :])


def with_numbers(content: bytes, random: Random) -> bytes:
    """A file of tensors, some bytes of its numbers changed, with its checksum right again."""
    length = int.from_bytes(content[:LENGTH], "little")
    body = bytearray(content[LENGTH + length :])
    for _ in range(random.choice((1, 2, 20))):
        at = random.randrange(max(1, len(body) - 4))
        body[at : at + 4] = random.choice((b"\x00\x00\xc0\x7f", b"\xff\xff\x7f\x7f", random.randbytes(4)))
    return sealed(json.loads(content[LENGTH : LENGTH + length]), bytes(body))


def sealed(header: dict[str, Any], body: bytes) -> bytes:
    """A safetensors file of a header and a body, with the checksum of both where the header states one."""
    stated = CHECKSUM in header.get("__metadata__", {})
    if stated:
        header["__metadata__"][CHECKSUM] = BLANK
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    content = len(text).to_bytes(LENGTH, "little") + text + body
    return content.replace(BLANK.encode(), f"crc32:{zlib.crc32(content):08x}".encode(), 1) if stated else content
