"""The files that a job consists of, and where they lie."""
