"""Every browser test may ask for the served app and a visitor of it."""

from tests.browser.test_app import address, visitor

__all__ = ["address", "visitor"]
