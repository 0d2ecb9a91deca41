"""Whom the server answers, and what it lets a browser do with its pages."""

from __future__ import annotations

import streamlit as st
from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import net_util

from app.server.sent_files import SentFiles
from app.server.static_files import Compressed

POLICY = {
    "default-src": "'self'",
    # Streamlit's page begins with a script of its own, and a board that is taken away is a page with its script in it.
    "script-src": "'self' 'unsafe-inline' blob:",
    "style-src": "'self' 'unsafe-inline'",
    "img-src": "'self' data: blob:",
    "font-src": "'self' data:",
    "media-src": "'self' blob:",
    "connect-src": "'self' data: blob:",
    "worker-src": "'self' blob:",
    "frame-src": "'self' blob: data:",
    "object-src": "'none'",
    "base-uri": "'self'",
    "form-action": "'self'",
    "frame-ancestors": "'self'",
}
"""Content security policy: a page of the app loads nothing from another host, and stands in no other host's frame."""
HEADERS = {
    "Content-Security-Policy": "; ".join(f"{name} {sources}" for name, sources in POLICY.items()),
    "Permissions-Policy": "camera=(self), microphone=(), geolocation=()",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "SAMEORIGIN",
}


class Headers:
    """Middleware that sends HEADERS with every answer."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request as the app does, with the headers."""

        async def told(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        await self.app(scope, receive, told)


def ask_nobody() -> None:
    """The server asks no other host for its own address.

    Streamlit does at each request of a page elsewhere, and all visitors wait until there is an answer; what is not
    reached under the name that it was asked by is named in `server.corsAllowedOrigins`.
    """
    net_util.get_external_ip = lambda: None


def middleware() -> list[Middleware]:
    """Headers, compressed files, a bound on what a session sends, and a refusal (400) of requests that name a host
    other than those of Streamlit's `server.allowedHosts`.

    So a page of another host cannot reach an app on this machine under that host's name. Empty: every name is taken.
    """
    hosts = st.get_option("server.allowedHosts") or ["*"]
    known = Middleware(TrustedHostMiddleware, allowed_hosts=hosts, www_redirect=False)
    return [Middleware(Headers), known, Middleware(Compressed), Middleware(SentFiles)]
