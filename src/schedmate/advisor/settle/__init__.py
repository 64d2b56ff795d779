"""Claims about a job, settled to one value a field."""
