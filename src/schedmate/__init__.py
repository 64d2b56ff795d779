"""SchedMate makes the scheduler of a GPU cluster understand the jobs it runs."""

__version__ = "0.1.0"
