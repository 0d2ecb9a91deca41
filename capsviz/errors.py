"""Every error that a user of capsviz can meet."""


class CapsvizError(Exception):
    """One sentence that says what is wrong and what to do next."""
