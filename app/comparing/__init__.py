"""The views of Compare, one file each; only the one that is looked at computes anything."""
