"""How files are written, whole or not at all, and read, within limits."""
