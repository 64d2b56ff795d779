"""Whole runs of home-made logs, at an even pace."""
