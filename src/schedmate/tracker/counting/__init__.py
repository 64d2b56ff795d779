"""From what single lines say to counts: where each stands, how often it went round, its total."""
