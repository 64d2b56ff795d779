"""Beside the job, but not part of it."""

EPOCHS = 1
