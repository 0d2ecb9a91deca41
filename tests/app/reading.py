"""What a page of the app says, and what its figures and boards were given."""

from __future__ import annotations

import json

from streamlit.testing.v1 import AppTest

from capsviz.boards.message import Message, unpack


def charts(app: AppTest) -> dict[str, dict]:
    """The figures on the page by the end of their key."""
    return {chart.proto.id.rsplit("-", 1)[-1]: json.loads(chart.proto.spec) for chart in app.get("plotly_chart")}


def messages(app: AppTest) -> list[Message]:
    """What the boards on the page were given, weights of decoders among it."""
    return [unpack(element.proto.bytes) for element in app.get("bidi_component") if element.proto.bytes]


def live(app: AppTest) -> dict:
    """What the live decoder was given: decoders, class, offsets, range; its weights arrive apart from it."""
    return next(dict(message.fields) for message in messages(app) if "decoders" in message.fields)


def boards(app: AppTest) -> list[Message]:
    """What each routing board was given."""
    return [message for message in messages(app) if "share_names" in message.fields]


def board(app: AppTest) -> Message:
    """What the only routing board was given."""
    [message] = boards(app)
    return message


def spoken(app: AppTest) -> str:
    """All running text of the page, and its large numbers."""
    return "\n".join(element.value for element in [*app.markdown, *app.caption, *app.info, *app.metric])
