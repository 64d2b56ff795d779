"""Values that the package shares."""

MAX_EPOCHS = 5
