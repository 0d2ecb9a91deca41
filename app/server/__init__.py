"""What the server of the app does beside running its script."""
