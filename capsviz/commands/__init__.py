"""The command line, one file a group of commands; `main.py` is where it begins."""
