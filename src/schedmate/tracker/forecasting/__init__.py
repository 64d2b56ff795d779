"""From what was done when to when it ends, how surely, and whether it slows down or hangs. Pure."""
