"""How jobs declare their options: one file a library, its models and wrappers in `MODELS`."""
