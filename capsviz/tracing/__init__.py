"""One forward pass, recorded: what every figure, board and file is made from; and what is changed while it runs."""
