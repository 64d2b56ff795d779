"""Programs that train from a config alone: one file a tool, its line in `TOOLS`."""
