"""Shell and Python code, interpreted without being run."""
