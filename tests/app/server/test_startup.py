"""What the server does before its first visitor, in a process of its own: this one has imported everything already."""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from app.server import endings, heap, startup

ROOT = Path(__file__).resolve().parents[3]
SERVE = """
import asyncio, gc, os, sys, threading
from app.server import startup

startup.wait()  # nothing has begun: a script that is run without the server waits for nothing
assert "torch" not in sys.modules, "the server would answer only after torch's import"

async def serve():
    async with startup.lifespan(None):
        print(startup._thread.is_alive())

asyncio.run(serve())
startup.wait()
loaded = ("torch", "torchvision", "sklearn", "app.boards.routing_boards", "app.sidebar.sidebar")
print(all(name in sys.modules for name in loaded))
startup._thread.join()
gc.collect()
print(gc.isenabled() and gc.get_freeze_count() > 10 * len(gc.get_objects()))
import torch
threading.Thread(target=lambda: print(torch.get_num_threads() <= max(1, os.cpu_count() // 4))).start()
"""


def test_the_server_imports_and_runs_a_model_before_anyone_comes(bare_machine: Path):
    """What it imported costs nothing when garbage is collected, and a visitor's script leaves cores to others."""
    alone = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}
    command = [sys.executable, "-c", SERVE]
    said = subprocess.run(command, cwd=ROOT, env=alone, capture_output=True, text=True, timeout=120)
    assert said.stdout.split() == ["True"] * 4, said.stderr
    assert "Traceback" not in said.stderr and "ScriptRunContext" not in said.stderr


def test_free_memory_is_given_back_while_the_server_runs_and_no_longer(monkeypatch: pytest.MonkeyPatch):
    given, ended = list[int](), list[bool]()
    monkeypatch.setattr(startup, "_thread", threading.Thread(target=int))
    monkeypatch.setattr(endings, "asked", contextlib.ExitStack())
    endings.asked.callback(ended.append, True)
    monkeypatch.setattr(startup, "TIDY", 0.01)
    monkeypatch.setattr(heap, "trim", lambda: given.append(len(given)))

    async def serve() -> int:
        async with startup.lifespan(None):
            while len(given) < 3:
                await asyncio.sleep(0.01)
        before = len(given)
        await asyncio.sleep(0.1)
        return len(given) - before

    assert asyncio.run(serve()) <= 1 and ended == [True]  # one may have been under way
