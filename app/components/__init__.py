"""What the page asks of code in the browser (`frontend/`): one .py each."""
