"""Config files as values with their lines."""
