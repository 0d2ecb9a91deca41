"""Streamlit scripts served as `make app` serves the app, and the browser that visits them."""

from app.benchmarks.serving import CHROMIUM, FLAGS, ROOT, served

__all__ = ["CHROMIUM", "FLAGS", "ROOT", "WAIT", "served"]

WAIT = 60_000  # milliseconds: generous for a busy machine
