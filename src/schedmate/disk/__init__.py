"""What several processes share on a disk: a database file, locks with a live holder."""
