"""Slurm by its command line: commands.py runs it, parsing.py reads it, adapter.py is the face."""

from schedmate.schedulers.slurm.adapter import SlurmScheduler

__all__ = ["SlurmScheduler"]
