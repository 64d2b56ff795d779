"""Experiments: a setting, a policy with or without SchedMate, and what came of the jobs."""
