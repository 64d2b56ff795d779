"""What calls of libraries mean. To add a library: a file beside this one, its idiom here."""
