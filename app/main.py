"""capsviz, the app: `streamlit run app/main.py` from the repository root; `-- --tour talk.toml` brings a talk along.

The server that Streamlit starts; what its visitors see, app/script.py does.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import streamlit as st

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # `streamlit run` puts only this folder there, and before it may come another `app`

try:
    from app.server import callbacks, drawing_order, failures, heap, packs, security, startup
    from app.tours import links, store
    from app.tours.tour import TourError
except ImportError as error:
    if error.name != "CAPSVIZ_ROUTINGS":  # as capsviz.routing.own says of an algorithm of one's own
        raise
    sys.exit(str(error))

parser = argparse.ArgumentParser(prog="streamlit run app/main.py --", description=__doc__)
parser.add_argument("--tour", metavar="FILE", help="a talk, as the page Tours saves it; that page lists it first")
if tour := parser.parse_args().tour:
    try:
        for sentence in links.problems(store.start_with(tour)):
            print(f"{tour}: {sentence}", file=sys.stderr)
    except TourError as error:
        sys.exit(str(error))

heap.keep_small()
callbacks.install()
security.ask_nobody()
SERVED: dict[str, Any] = {
    "lifespan": startup.lifespan,
    "routes": [*drawing_order.routes(), *packs.routes()],
    "middleware": security.middleware(),
    "on_script_error": failures.answer,
}
"""What a server of the app does beside running its script."""
app = st.App("script.py", **SERVED)
