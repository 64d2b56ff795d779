"""Logs of real frameworks that ran on a CPU, with the time at which each piece was written."""
