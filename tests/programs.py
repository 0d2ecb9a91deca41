"""The command line, and Python in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from typer.testing import CliRunner, Result

from capsviz.commands.main import app
from capsviz.errors import CapsvizError

ROOT = Path(__file__).resolve().parents[1]


def command(*words: object) -> Result:
    """What `capsviz` says to these words, in this process; it has to end well."""
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == 0, (result.output, result.exception)
    return result


def refused(*words: object, error: type[CapsvizError] = CapsvizError) -> str:
    """The sentence with which `capsviz` refuses these words, in this process."""
    said = CliRunner().invoke(app, [str(word) for word in words]).exception
    assert isinstance(said, error), said
    return str(said)


def python(*words: object, timeout: float = 300, **environment: str) -> subprocess.CompletedProcess[str]:
    """What Python did with these words at the root of the repository: `returncode`, `stdout`, `stderr`."""
    command, variables = [sys.executable, *map(str, words)], os.environ | environment
    return subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True, timeout=timeout)


def printed(code: str, *words: object) -> str:
    """What a script prints, which has to end well."""
    done = python("-c", code, *words)
    assert done.returncode == 0, done.stderr
    return done.stdout
