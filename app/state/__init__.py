"""What the visitor has chosen: every choice declared once, and how a link writes it."""
