"""From a script or a command line to the program that the job is about."""
