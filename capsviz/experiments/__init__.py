"""The papers' experiments: each one command, `capsviz experiment NAME`, each with its result file."""
