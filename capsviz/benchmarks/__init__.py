"""What the README's performance table is measured by: `capsviz benchmark`."""
