"""From files to lines: followed while they are written or read once, sampled where long."""
