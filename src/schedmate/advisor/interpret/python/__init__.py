"""The job's Python code, interpreted without being run."""
