"""A disk that is full, read-only or gone is one sentence on the page, which stays usable."""

from __future__ import annotations

import errno
import os
from unittest.mock import Mock

import pytest

from app.sources import images
from tests.app.conftest import Visit


@pytest.mark.parametrize(
    ("page", "number"),
    [("dynamic", errno.ENOSPC), ("compare", errno.EROFS), ("em", errno.ENOENT), ("perturb", errno.EACCES)],
)
def test_what_the_system_refuses_is_one_sentence_below_links_that_still_lead_on(
    visit: Visit, monkeypatch: pytest.MonkeyPatch, page: str, number: int
):
    refusal = OSError(number, os.strerror(number), "/data/MNIST")
    monkeypatch.setattr(images, "resolve", Mock(side_effect=refusal))
    app = visit(page, model="digits-dr", image=3)
    assert [error.value for error in app.error] == [
        f"The system refused (/data/MNIST): {os.strerror(number)}; see the file, its folder and the room left."
    ]
    assert {link.proto.query_string for link in app.get("page_link")} == {"model=digits-dr&image=3"}
