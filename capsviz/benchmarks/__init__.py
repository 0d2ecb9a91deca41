"""What docs/speed.md is measured by: `capsviz benchmark`."""
