"""What is shown of jobs and nodes, put together from records; nothing is decided here."""
