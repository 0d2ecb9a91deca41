"""Every error that a user of capsviz can meet."""

from collections.abc import Iterator
from contextlib import contextmanager


class CapsvizError(Exception):
    """One sentence that says what is wrong and what to do next."""


@contextmanager
def needed(extra: str, what: str) -> Iterator[None]:
    """Around imports of packages that only one of capsviz's extras brings: says which, where one is missing.

    what: "A board", that which needs them. Raises CapsvizError.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        package = str(error.name).partition(".")[0]
        if package == "capsviz":
            raise
        raise CapsvizError(f'{what} needs {package}; run `pip install "capsviz[{extra}]"`.') from error
