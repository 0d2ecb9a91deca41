"""What the boards of the pages show, and what an action on one changes."""
