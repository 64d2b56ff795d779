"""Plots as SVG: scales, frames and marks, and nothing that a browser would have to fetch."""
