"""Messages to users about their jobs: opt-in, in batches, with the reason in the first line."""
