"""How pages and reports look: one stylesheet, one way to draw, pages that need nothing else."""
