"""What is loaded, computed and remembered: for all visitors, or for the one whose it is."""
