"""capsviz, the app: `streamlit run app/main.py` from the repository root.

The server that Streamlit starts; what its visitors see, app/script.py does.
"""

from __future__ import annotations

import sys
from pathlib import Path

import streamlit as st

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:  # `streamlit run` puts only this folder there
    sys.path.insert(0, str(ROOT))

from app import failures, startup  # noqa: E402

app = st.App("script.py", lifespan=startup.lifespan, on_script_error=failures.answer)
