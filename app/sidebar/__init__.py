"""The sidebar: which model, which image, from which viewpoint."""
