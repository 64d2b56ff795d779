"""The job's Python code, followed without being run."""
