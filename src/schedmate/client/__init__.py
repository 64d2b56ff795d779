"""A small client of a running daemon's API, by URL or by its unix socket.

client = Client("http://127.0.0.1:8080")
for view in client.jobs(state="RUNNING"):
    print(view.job.id, view.predicted)
"""

from schedmate.client.client import Client

__all__ = ["Client"]
