"""What the server does before its first visitor, in a process of its own: this one has imported everything already."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SERVE = """
import asyncio, sys
from app import startup

startup.wait()  # nothing has begun: a script that is run without the server waits for nothing
assert "torch" not in sys.modules, "the server would answer only after torch's import"

async def serve():
    async with startup.lifespan(None):
        print(startup._thread.is_alive())

asyncio.run(serve())
startup.wait()
print(all(name in sys.modules for name in ("torch", "torchvision", "sklearn", "app.boards", "app.sidebar")))
startup._thread.join()
"""


def test_the_server_imports_and_runs_a_model_before_anyone_comes(bare_machine: Path):
    said = subprocess.run([sys.executable, "-c", SERVE], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert said.stdout.split() == ["True", "True"], said.stderr
    assert "Traceback" not in said.stderr and "ScriptRunContext" not in said.stderr
