"""`python -m capsviz` and `torchrun -m capsviz`: the command line."""

from capsviz.commands.main import main

if __name__ == "__main__":
    main()
