"""Puts a changed source in the place of a module: into functions that are there, or where the module is imported."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

Key = tuple[str, str, int, bytes]


class Functions:
    """The functions of the modules at some paths, of which each may be given other code."""

    def __init__(self, paths: set[Path]):
        modules = [each for each in sys.modules.values() if Path(getattr(each, "__file__", None) or "") in paths]
        self.loaders: dict[str, Any] = {str(each.__file__): each.__loader__ for each in modules}
        self.by_code: dict[Key, list[FunctionType]] = {}
        gc.unfreeze()  # what is frozen, as by the tests' own set-up, is not among the objects
        for each in gc.get_objects():
            if type(each) is FunctionType and each.__code__.co_filename in self.loaders:
                self.by_code.setdefault(_key(each.__code__), []).append(each)

    def change(self, path: Path, changed: bytes) -> bool:
        """Give the functions of a module the code of another source; whether one function at least has other code.

        Raises ValueError where the function needs other variables of those around it.
        """
        compiled = [self.loaders[str(path)].source_to_code(each, str(path)) for each in (path.read_bytes(), changed)]
        done = False
        for old, new in _pairs(*compiled):
            for function in self.by_code.get(_key(old), ()):
                function.__code__ = new
                done = done or old.co_code != new.co_code or old.co_consts != new.co_consts
        return done


def _key(code: CodeType) -> Key:
    return code.co_filename, code.co_qualname, code.co_firstlineno, code.co_linetable


def _pairs(old: CodeType, new: CodeType) -> Iterator[tuple[CodeType, CodeType]]:
    """A code and those inside it, with those that stand in their places."""
    yield old, new
    inside = [[each for each in code.co_consts if isinstance(each, CodeType)] for code in (old, new)]
    if [each.co_name for each in inside[0]] == [each.co_name for each in inside[1]]:
        for pair in zip(*inside, strict=True):
            yield from _pairs(*pair)


def change_import(path: Path, changed: bytes) -> None:
    """Let the import of a module find another source; nothing that this process compiles is kept."""
    read = SourceFileLoader.get_data

    def get_data(self: SourceFileLoader, name: str) -> bytes:
        if Path(name) == path:
            return changed
        if Path(name).name.startswith(f"{path.stem}.") and name.endswith(".pyc"):
            raise OSError("what was compiled is of the source as it is")
        return read(self, name)

    SourceFileLoader.get_data = get_data  # type: ignore[method-assign, assignment]
    sys.dont_write_bytecode = True
