"""Ranks that do not find each other: ports in use, stores without a server."""

import re

from schedmate.handler.rules.base import LazyPattern, Rule, Weight

_GOES_ON = LazyPattern(
    (
        r"\[W[ \d]|retry|trying (?:another|the|port|\d)|using (?:port )?\d|by another|instead"
        r"|errno: 97|next (?:free )?port"
    ),
    re.IGNORECASE,
)

RULES = (
    Rule(
        name="address-in-use",
        reason="port_conflict",
        pattern=LazyPattern(
            r"(?:bind|socket|errno|OSError|RuntimeError|listen|port|http|server|launch).{0,200}"
            r"address already in use"
            r"|\bEADDRINUSE\b|port \d{2,5} is (?:already )?(?:in use|occupied|not available)"
            r"|address already in use.{0,60}(?:bind|port|listen)"
            r"|Only one usage of each socket address"
            r"|server socket has failed to listen on any local network address"
            r"|on port `?\d{2,5}`?,? but (?:another process|it) is"
            r"|another process is (?:using|utilizing) it"
            r"|\bport\b.{0,60}(?:is|has been|being|been) (?:used|using|taken|occupied|bound) by"
            r"|\blisten(?:ing)?\b.{0,60}\bport\b.{0,30}\bfail(?:s|ed|ure)?\b",
            re.IGNORECASE,
        ),
        unless=LazyPattern(
            _GOES_ON.pattern + r"|permission denied|EACCES|cannot assign", re.IGNORECASE
        ),
        confidence=0.93,
        positives=(
            (
                "RuntimeError: The server socket has failed to listen on any local network "
                "address. The server socket has failed to bind to [::]:29500 (errno: 98 - Address "
                "already in use)."
            ),
            "OSError: [Errno 98] Address already in use",
            (
                "torch.distributed.DistNetworkError: The server socket has failed to listen on any "
                "local network address. port: 29500, useIpv6: false, code: -98, name: EADDRINUSE, "
                "message: address already in use"
            ),
            (
                "E1114 server_chttp2.cc] No address added out of total 1 resolved; bind failed: "
                "Address already in use"
            ),
            "RuntimeError: Address already in use, cannot bind to port 12355",
            (
                "[ERROR] HCCL(27,python3): [Listen] listen on ip[10.0.0.1] and specific "
                "port[16666] fail. Check whether the port is been using by other process."
            ),
            (
                "ConnectionError: Tried to launch distributed communication on port `29500`, but "
                "another process is utilizing it."
            ),
            (
                "[E socket.cpp:472] [c10d] The server socket has failed to listen on any local "
                "network address."
            ),
        ),
        negatives=(
            "port 6006: address already in use by another TensorBoard, trying 6007",
            "WARNING: port 29500 is in use, using 29501 instead",
            (
                "[W socket.cpp:426] [c10d] The server socket has failed to bind to [::]:29500 "
                "(errno: 98 - Address already in use)."
            ),
        ),
    ),
    Rule(
        name="torch-elastic",
        reason="rendezvous",
        pattern=LazyPattern(
            r"Rendezvous(?:Timeout|Connection|Closed|State)Error|Stop_waiting response is expected"
            r"|[Tt]imed out after \d{1,9} seconds waiting for clients"
            r"|The client socket has (?:timed out|failed to connect)"
            r"|DistStoreError: |DistNetworkError: |barrier on .{0,80}timed out after .{0,80}waiting"
            r"|[Tt]imed out initializing process group"
            r"|wait timeout after \d{1,12}ms, keys: "
            r"|got error: (?:Socket Timeout|wait timeout|Timeout)"
            r"|^(?:[\w.]{1,80}\.)?\w{0,20}Error: Socket Timeout$"
            r"|gloo.{0,160}Connect timeout|Barrier timed out\. (?:Barrier_)?[Ii]d: "
            r"|Connect\(\) timed out after"
            r"|coordination service.{0,80}(?:DEADLINE_EXCEEDED|failed to connect|UNAVAILABLE)"
            r"|Failed to connect to (?:the )?coordination service"
            r"|DEADLINE_EXCEEDED: .{0,80}(?:[Bb]arrier|RegisterTask|GetKeyValue)"
            r"|[Ww]orld[ _]?size (?:mismatch|of \d{1,6} does not match|inconsistent)"
            r"|[Tt]imed out (?:\w{1,20} ){0,4}waiting for (?:\w{1,12} ){0,3}(?:ranks|workers"
            r"|nodes|peers"
            r"|clients|participants|replicas|hosts|members|tasks)\b"
            r"|[Ff]ailed to connect to (?:the )?(?:remote )?(?:server|coordinator|master|head node"
            r"|leader|scheduler) at|at least one MPI process is unreachable"
            r"|PMI[Xx2] ERROR: (?:UNREACH|TIMEOUT)"
            r"|\b\d{1,6}/\d{1,6} (?:ranks|workers|nodes|clients|participants) (?:have )?(?:joined"
            r"|connected)\b"
            r".{0,40}(?:timed out|timeout|giving up|abort)"
            r"|MPI_Init\w{0,8} .{0,30}fail|PMPI_Init\w{0,8}.{0,40}(?:fail|error)"
            r"|[Ff]ailed to init(?:ialize)? (?:the |global )?(?:collectives?|comm(?:unicators?)?"
            r"|process group|distributed (?:backend|environment))\b"
            r"|CCOM WARN Timeout waiting for (?:incoming connection|RX|TX)"
            r"|Could not find any running Ray instance|Unable to connect to GCS"
            r"|Failed to connect to GCS|ray\.exceptions\.RaySystemError.{0,80}Connection refused"
            r"|Error initializing torch\.distributed using (?:env|tcp|file)://"
        ),
        unless=LazyPattern(
            r"\[W[ \d]|retrying|errno: 97|failed to shut ?down the rendezvous|heartbeat to the"
            r"|failed to recv|Connection (?:reset|closed)|Broken pipe|likely closed"
            r"|environment variable|heartbeat timeout|set to ERROR in"
            r"|to (?:exit|finish|stop|terminate|complete|shut)\b"
        ),
        confidence=0.9,
        weight=Weight.SYMPTOM,
        positives=(
            "torch.distributed.elastic.rendezvous.api.RendezvousTimeoutError",
            (
                "torch.distributed.DistStoreError: Timed out after 1801 seconds waiting for "
                "clients. 3/4 clients joined."
            ),
            (
                "RuntimeError: Timed out initializing process group in store based barrier on "
                "rank: 1, for key: store_based_barrier_key:1 (world_size=4, worker_count=3)"
            ),
            (
                "torch.distributed.DistNetworkError: The client socket has timed out after "
                "600000ms while trying to connect to (n1, 29500)."
            ),
            (
                "RuntimeError: [2] is setting up NCCL communicator and retrieving ncclUniqueId "
                "from [0] via c10d key-value store by key '0', but store->get('0') got error: "
                "Socket Timeout"
            ),
            "RuntimeError: Socket Timeout",
            "3:3 [31] bootstrap.cc:89 CCOM WARN Timeout waiting for incoming connection (120 sec)",
            "RuntimeError: Timed out waiting for all ranks to join: 15/16 present",
            "RuntimeError: The server socket has timed out waiting for clients: 7/8 clients joined",
            "RuntimeError: Deadline exceeded: Failed to connect to remote server at address: grpc://x",
            "MPI_INIT has failed because at least one MPI process is unreachable from another.",
            (
                "jaxlib.xla_extension.XlaRuntimeError: DEADLINE_EXCEEDED: Barrier timed out. "
                "Barrier_id: PjRT_Client_Connect. Timed out task names:"
            ),
        ),
        negatives=(
            "Rendezvous complete for workers. Result: restart_count=0",
            "Timed out waiting for workers to exit, killing them",
            "INFO:torch.distributed.distributed_c10d:Added key: store_based_barrier_key:1 to store",
            (
                "[W socket.cpp:464] [c10d] The client socket has failed to connect to [::]:29500 "
                "(errno: 97 - Address family not supported by protocol)."
            ),
            (
                "[W426 16:56:01 TCPStore.cpp:347] [c10d] TCP client failed to connect/validate to "
                "host 100.64.0.1:59782 - retrying (try=6, timeout=1800000ms)"
            ),
        ),
    ),
    Rule(
        # the store that all ranks meet at was gone before they had met
        name="store-lost",
        reason="rendezvous",
        pattern=LazyPattern(
            r"^(?:[\w.]{1,80}\.)?\w{0,20}Error: (?:Connection reset by peer|Broken pipe).{0,300}"
            r"(?:init_process_group|_store_based_barrier|rendezvous|TCPStore|\bstore\.(?:add|get|set|wait))"
        ),
        errors_only=True,
        confidence=0.7,
        weight=Weight.SYMPTOM,
        positives=(
            'RuntimeError: Connection reset by peer File "c10d.py", in _store_based_barrier',
        ),
        negatives=("RuntimeError: Connection reset by peer",),
    ),
    Rule(
        # the launch lacks an address or a rank
        name="torch-distributed-environment",
        reason="argument_error",
        pattern=LazyPattern(
            r"Error initializing torch\.distributed using env://.{0,120}environment variable"
            r"|environment variable (?:RANK|WORLD_SIZE|MASTER_ADDR|MASTER_PORT) expected"
        ),
        confidence=0.9,
        positives=(
            (
                "ValueError: Error initializing torch.distributed using env:// rendezvous: "
                "environment variable RANK expected, but not set"
            ),
        ),
        negatives=("environment variable RANK is 0",),
    ),
)
