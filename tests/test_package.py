"""Installed, capsviz has its models and its app with it; what it needs is said once."""

from __future__ import annotations

import importlib.util
import os
import socket
import subprocess
import sys
import tomllib
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from typer.testing import CliRunner

from app.benchmarks.serving import wait_for_health
from capsviz import places, zoo
from capsviz.commands import app, main
from capsviz.errors import CapsvizError
from capsviz.experiments import results
from tests.programs import refused

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
WHEEL = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A folder laid out as the wheel is, by what pyproject.toml says of it."""
    for package in WHEEL["packages"]:
        (tmp_path / package).mkdir()
        for part in (ROOT / package).iterdir():
            (tmp_path / package / part.name).symlink_to(part)
    for name in ("places.py", "__init__.py"):  # a link would lead back to the repository
        part = tmp_path / "capsviz" / name
        part.unlink()
        part.write_text((ROOT / "capsviz" / name).read_text(encoding="utf-8"), encoding="utf-8")
    for source, target in WHEEL["force-include"].items():
        (tmp_path / target).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / target).symlink_to(ROOT / source)
    return tmp_path


@pytest.mark.parametrize(("folder", "variable"), [(zoo.folder, "CAPSVIZ_ZOO"), (results.folder, "CAPSVIZ_RESULTS")])
def test_a_folder_that_is_named_empty_is_not_named_and_its_home_is_resolved(folder, variable, monkeypatch):
    monkeypatch.delenv(variable, raising=False)
    unset = folder()
    monkeypatch.setenv(variable, "")
    assert folder() == unset and unset.is_dir()
    monkeypatch.setenv(variable, "~/mine")
    assert folder() == Path.home() / "mine"


@pytest.mark.long
def test_an_installed_capsviz_finds_its_models_results_and_app(installed: Path, tmp_path_factory):
    code = """
import capsviz
from capsviz import places, zoo
from capsviz.data.order import FOLDER
from capsviz.experiments import results
bundled = places.root()
assert bundled.name == "bundled", bundled
assert zoo.folder() == bundled / "pretrained" and FOLDER == bundled / "pretrained" / "exemplars"
zoo.verify(zoo.models()["digits-dr"])
capsviz.load("digits-dr")
assert results.read("seeds") is not None
from capsviz.commands.benchmark import of_app
assert of_app("app.benchmarks.live").__file__ == str(bundled / "app" / "benchmarks" / "live.py")
assert (bundled / "app" / "main.py").is_file() and (bundled / "app" / ".streamlit" / "config.toml").is_file()
"""
    environment = {name: value for name, value in os.environ.items() if name != "CAPSVIZ_ZOO"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path_factory.mktemp("elsewhere"),
        env={**environment, "PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_what_capsviz_needs_is_said_in_pyproject_alone_and_locked():
    said = chain(PROJECT["project"]["dependencies"], *PROJECT["project"]["optional-dependencies"].values())
    needed = [need for need in map(Requirement, said) if need.name != "capsviz"]
    lines = (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()
    locked = [Requirement(line.removesuffix(" \\")) for line in lines if "==" in line]
    versions = {pin.name: str(pin.specifier).removeprefix("==") for pin in locked}
    assert [str(need) for need in needed if need.name not in versions] == []
    assert [str(need) for need in needed if not need.specifier.contains(versions[need.name])] == []
    for name in ("requirements.txt", "requirements-dev.txt"):
        lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
        assert [line for line in lines if line and not line.startswith(("#", "--editable ."))] == []


def test_the_app_starts_from_anywhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    started: list[list[str]] = []
    monkeypatch.setattr(os, "execv", lambda _, command: started.append(command))
    monkeypatch.setattr(app, "check_place", lambda *_: None)
    monkeypatch.chdir(tmp_path)
    CliRunner().invoke(main.app, ["app", "--port", "8600", "--address", "0.0.0.0"], catch_exceptions=False)
    (command,) = started
    assert Path(command[command.index("run") + 1]).samefile(ROOT / "app" / "main.py")
    assert command[command.index("run") + 2 :] == [
        "--server.port", "8600", "--server.address", "0.0.0.0", "--server.allowedHosts", "*",
    ]  # fmt: skip


def test_on_windows_the_command_ends_with_the_app_and_as_it_does(monkeypatch: pytest.MonkeyPatch):
    started: list[list[str]] = []

    class Server:
        returncode: int | None = None
        heard = 0

        def __init__(self, command: list[str]) -> None:
            started.append(command)

        def poll(self) -> int | None:
            return self.returncode

        def wait(self) -> int:
            if not self.heard:  # the first Ctrl-C
                self.heard = 1
                raise KeyboardInterrupt
            self.returncode = 3
            return 3

    monkeypatch.setattr(os, "execv", lambda *_: pytest.fail("the shell goes on before the app has ended"))
    monkeypatch.setattr(subprocess, "Popen", Server)
    monkeypatch.setattr(app, "check_place", lambda *_: None)
    monkeypatch.setattr(sys, "platform", "win32")
    result = CliRunner().invoke(main.app, ["app"])
    assert result.exit_code == 3 and started[0][1:5] == ["-P", "-m", "streamlit", "run"]


@pytest.mark.long
def test_the_app_starts_in_a_folder_with_modules_of_its_own(tmp_path: Path):
    for name in ("app", "queue"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('of the folder')")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-P", "-m", "capsviz", "app", "--port", str(port)]
    log = tmp_path / "log"
    with log.open("wb") as file:
        variables = {**os.environ, "PYTHONPATH": str(ROOT)}
        server = subprocess.Popen(command, cwd=tmp_path, env=variables, stdout=file, stderr=subprocess.STDOUT)
    try:
        wait_for_health(f"http://localhost:{port}", server, log)
    finally:
        server.kill()
        server.wait(timeout=20)


@pytest.mark.parametrize(
    ("given", "names"),
    [
        ([], {"localhost", "127.0.0.1"}),
        (["--host", "caps.example.org"], {"localhost", "127.0.0.1", "caps.example.org"}),
        (["--address", "0.0.0.0", "--host", "caps.example.org"], {"localhost", "127.0.0.1", "caps.example.org"}),
        (["--address", "0.0.0.0"], {"*"}),
    ],
)
def test_the_app_answers_to_the_names_that_are_given(
    monkeypatch: pytest.MonkeyPatch, given: list[str], names: set[str]
):
    started: list[list[str]] = []
    monkeypatch.setattr(os, "execv", lambda _, command: started.append(command))
    monkeypatch.setattr(app, "check_place", lambda *_: None)  # another app may be there
    CliRunner().invoke(main.app, ["app", *given], catch_exceptions=False)
    (command,) = started
    assert {name for option, name in pairwise(command) if option == "--server.allowedHosts"} == names


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            ["--address", "nohost.invalid"],
            "nohost.invalid is no address of this machine; give one of its own, or 0.0.0.0",
        ),
        (["--address", "192.0.2.1"], "192.0.2.1 is no address of this machine"),  # of documents, RFC 5737
        (["--tour", "nofile.toml"], "There is no file nofile.toml; give the file of a tour"),
    ],
)
def test_where_the_app_cannot_listen_or_read_it_does_not_start(
    monkeypatch: pytest.MonkeyPatch, given: list[str], said: str
):
    def asked(host: str, *how: Any) -> list[Any]:
        if host.endswith(".invalid"):  # some networks know every name
            raise socket.gaierror
        return found(host, *how)

    found = socket.getaddrinfo
    monkeypatch.setattr(socket, "getaddrinfo", asked)
    monkeypatch.setattr(os, "execv", lambda *_: pytest.fail("it started"))
    assert refused("app", *given).startswith(said)


def test_a_port_that_is_taken_is_said(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(os, "execv", lambda *_: pytest.fail("it started"))
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        said = refused("app", "--port", port, "--address", "127.0.0.1")
    assert said.startswith(f"Port {port} is taken, perhaps by another capsviz app; ")


def test_a_port_that_is_taken_by_its_name_is_said_where_that_has_two_addresses(monkeypatch: pytest.MonkeyPatch):
    """As localhost on macOS, of which Streamlit takes the one of four numbers."""
    asked = socket.getaddrinfo

    def both(host: str, port: int, family: int = 0, kind: int = 0) -> list[Any]:
        found = asked("127.0.0.1", port, type=kind)
        return found if family == socket.AF_INET else [*asked("::1", port, type=kind), *found]

    monkeypatch.setattr(socket, "getaddrinfo", both)
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(CapsvizError, match=f"^Port {port} is taken"):
            app.check_place("localhost", port)


def test_without_its_packages_or_its_files_the_app_says_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr(places, "root", lambda: tmp_path)
    with pytest.raises(CapsvizError, match="is not there; install capsviz again"):
        app.app()
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "plotly" else object())
    with pytest.raises(CapsvizError, match=r"needs plotly; run `pip install \"capsviz\[app\]\"`"):
        app.app()
