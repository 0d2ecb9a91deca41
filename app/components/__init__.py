"""What must run in the browser: one .py each, with its .js and .css beside it."""
