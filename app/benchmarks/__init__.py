"""The running app, measured: `capsviz benchmark app`, `load`."""
