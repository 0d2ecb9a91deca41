"""Talks: lists of views, each with its words; the file that holds one, and the way through it."""
