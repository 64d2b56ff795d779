"""From what a job starts to what is kept of it."""
