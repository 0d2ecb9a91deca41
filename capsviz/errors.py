"""Every error that a user of capsviz can meet."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from capsviz.letters import JOINERS

LONGEST = 600
"""Letters of an error's line: what a damaged file says of itself is cut."""


class CapsvizError(Exception):
    """One sentence that says what is wrong and what to do next."""

    status = 1
    """With which the command line then ends."""


def line(text: str) -> str:
    """A sentence that quotes what a file, a name or the system says, on one line, its control characters left out.

    What joins letters, as in Persian or an emoji, is none.
    """
    plain = " ".join("".join(x if x.isprintable() or x in JOINERS else " " for x in text).split())
    return plain if len(plain) <= LONGEST else f"{plain[: LONGEST // 2]} … {plain[-LONGEST // 2 :]}"


def listed(words: Sequence[str], last: str = "and") -> str:
    """ "a, b and c"."""
    return f" {last} ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def of_system(error: OSError) -> str:
    """What is said of a file that the system refuses, where nobody said it better."""
    where = f" ({error.filename})" if error.filename else ""
    return line(f"The system refused{where}: {error.strerror or error}; see the file, its folder and the room left.")


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
