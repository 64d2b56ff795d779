"""One run: the event loop, the cluster it runs on, and what comes out."""
