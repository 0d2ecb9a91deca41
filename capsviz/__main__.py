"""`python -m capsviz` and `torchrun -m capsviz`: the command line."""

from capsviz.cli import main

if __name__ == "__main__":
    main()
