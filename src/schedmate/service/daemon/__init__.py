"""The daemon: looks at the scheduler, sends events to the engine and carries out what follows."""
