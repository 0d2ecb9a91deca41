"""Trainings that visitors begin, and how a page shows them."""
