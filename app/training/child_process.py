"""`python -m app.training.child_process train …`: the command line in a process that ends with whoever started it.

It is started with a pipe as its input, of which the other end is held by the server: that closes when the server is
gone, however it went. A training then stops between two steps, as it does when it is asked to.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from contextlib import suppress

PATIENCE = 10
"""Seconds for what is under way."""


def watch(input: int) -> None:
    """End this process some time after nobody holds the other end of its input any more."""
    if sys.platform == "win32":  # there nobody else can ask about an input from which somebody reads, as numpy does
        import _winapi
        import msvcrt

        with suppress(BrokenPipeError):
            while True:
                _winapi.PeekNamedPipe(msvcrt.get_osfhandle(input), 0)
                time.sleep(1)
        signal.raise_signal(signal.SIGTERM)  # sent from outside, it would end the process amid a step
    else:
        while os.read(input, 1):
            pass
        os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(PATIENCE)
    os._exit(1)


if __name__ == "__main__":
    threading.Thread(target=watch, args=(0,), daemon=True).start()
    from capsviz.commands.main import main

    main()
