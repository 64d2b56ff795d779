"""What several processes share on a disk: a database file, and locks that say who is alive."""
