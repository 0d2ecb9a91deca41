"""Visitors of a running app in great number, and what the server makes of them: `capsviz benchmark load`."""
