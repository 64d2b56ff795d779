"""One queue for all accounts of a machine.

The local queue, served by root over a Unix socket; the kernel tells who asks, and each job runs
with the rights of its owner:

    protocol.py   questions and answers, and how they travel
    client.py     the `Scheduler` that every account uses
    server.py     the socket: so many questions at once, so large, so long
    requests.py   what is done for whom, and who sees what
"""
