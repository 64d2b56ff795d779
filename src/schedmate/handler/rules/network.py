"""The network between the nodes: InfiniBand, RoCE, EFA, Ethernet.

A peer that died looks like a bad link to the others, so most of it yields to any cause.
"""

from schedmate.handler.rules.base import LazyPattern, Rule, Weight

RULES = (
    Rule(
        name="infiniband-port",
        reason="network",
        pattern=LazyPattern(
            r"NET/IB\w? ?: ?.{0,60}[Aa]sync (?:fatal )?event ?: .{0,30}(?:port error|fatal"
            r"|device removal)"
            r"|Call to ibv_\w{1,40} failed|\bibv_(?:create|modify|reg|open|alloc|query"
            r"|get)_\w{1,30}\W"
            r".{0,60}(?:failed|error)|mlx[45]_core.{0,80}(?:[Hh]ealth (?:issue|compromised)"
            r"|device's health|assert_var|[Ii]nternal (?:firmware )?error|TX timeout"
            r"|Port module event\[error\]|Cable error|High Temperature)"
            r"|mlx[45]_core.{0,80}: Link down|NETDEV WATCHDOG: .{0,60}timed out"
            r"|Bootstrap : no socket interface found|no socket interface found"
            r"|(?:bond|eth|ens|eno|enp|ib)\w{0,12}: (?:NIC )?[Ll]ink (?:is )?[Dd]own"
            r"|link status definitely down|ib\w{0,8}: .{0,30}port \d{1,2} (?:is )?DOWN"
            r"|failed to TCP connect to a peer MPI process"
            r"|unable to complete a TCP connection to another process"
        ),
        unless=LazyPattern(
            r"retrying|errors?: 0\b|NCCL INFO|: INFO|^INFO|falling back|Link downed"
        ),
        confidence=0.88,
        positives=(
            (
                "n1:77:99 [0] misc/ibvwrap.cc:190 NCCL WARN Call to ibv_modify_qp failed with "
                "error Connection timed out errno 110"
            ),
            (
                "n1:77:99 [0] NCCL WARN Call to ibv_reg_mr_iova2 failed with error Cannot allocate "
                "memory"
            ),
            "n1:77:99 [2] transport/net_ib.cc:93 NCCL WARN NET/IB : Got async event : port error",
            "mlx5_core 0000:3b:00.0: poll_health:739:(pid 0): device's health compromised",
            "mlx5_core 0000:5e:00.0 ens1f0: Link down",
            "n1:12:12 [0] bootstrap.cc:45 NCCL WARN Bootstrap : no socket interface found",
            "NETDEV WATCHDOG: eth0 (mlx5_core): transmit queue 3 timed out",
            "libibverbs: ibv_create_qp() failed: Cannot allocate memory",
        ),
        negatives=(
            "mlx5_core 0000:5e:00.0 ens1f0: Link up",
            "libibverbs: ibv_get_device_list found 8 devices",
            "NCCL INFO Call to ibv_query_port succeeded",
        ),
    ),
    Rule(
        name="infiniband-completion",
        reason="network",
        pattern=LazyPattern(
            r"NET/IB\w? ?: ?Got completion (?:from peer )?.{0,120}(?:error|status=)"
            r"|[Tt]ransport retry count(?:er)? exceeded|RNR retry count(?:er)? exceeded"
            r"|Send completion with error|Local QP operation error|Work Request Flushed Error"
            r"|got completion with error:|InfiniBand retry count between two MPI processes"
            r"|NCCL WARN NET/.{0,120}(?:failed|[Cc]ould ?n.t|ERROR|[Ee]rror|failure|No NIC)"
            r"|error polling \w{2} CQ with status|RETRY EXCEEDED ERROR|WR_FLUSH_ERR|RETRY_EXC_ERR"
            r"|NET/OFI .{0,80}completed with error|Unresponsive receiver|Unreachable remote"
            r"|EFA .{0,60}(?:unresponsive|unreachable)|UCXError|UCXX?.{0,40}(?:Connection reset by "
            r"remote|Endpoint timeout|Destination is unreachable)|ibv_poll_cq.{0,40}(?:failed"
            r"|error)"
            r"|(?:NCCL|gloo|connect|Connect|tcp|MPI|rank|errno|socket).{0,200}"
            r"(?:No route to host|Network is unreachable|EHOSTUNREACH|ENETUNREACH)"
            r"|^\w{1,40}(?:Error|Exception): \[Errno (?:113|101)\]"
        ),
        unless=LazyPattern(
            r"\[W[ \d]|retrying|https?://|errors?: 0\b|NCCL INFO|: INFO|^INFO|HTTPS?Connection"
            r"|Retry\("
            r"|falling back|[Cc]onnection (?:closed|reset)|wandb|W&B|mlflow"
            r"|[Uu]sing (?:the )?internal|libnccl-net"
        ),
        confidence=0.82,
        weight=Weight.SYMPTOM,
        positives=(
            (
                "n1:984:1357 [4] ib_plugin.c:1615 NCCL WARN NET/IB : Got completion from peer "
                "172.36.143.59<44206> with status=12 opcode=129 len=65536 vendor err 129 (Recv)"
            ),
            (
                "n1:19989:20082 [1] transport/net_ib.cc:1295 NCCL WARN NET/IB : Got completion "
                "from peer 10.1.2.3<53249> with error 12, opcode 32564, len 32564, vendor err 129"
            ),
            (
                "[n1:19546:0:19546] ib_mlx5_log.c:139  Transport retry count exceeded on "
                "mlx5_0:1/IB (synd 0x15 vend 0x81 hw_synd 0/0)"
            ),
            (
                "[1506866470.7] [n1:1411 :0] dc_verbs.c:633 UCX  ERROR Send completion with error "
                "on qp 0x10e55: transport retry counter exceeded syndrome 0x81"
            ),
            (
                "n1:99:120 [0] nccl_net_ofi_rdma.c:811 NCCL WARN NET/OFI Request 0x7f completed "
                "with error. RC: 4126. Error: unknown error. Completed length: 0"
            ),
            ("socketStartConnect: Connect to 10.0.0.4<38901> failed : No route to host"),
            "RuntimeError: [enforce fail at tcp/device.cc] connect [10.0.0.4]: No route to host",
        ),
        negatives=(
            "NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB [RO]; OOB ib0:10.0.0.4<0>",
            "symbol errors: 0, link downed: 0",
            (
                "NCCL WARN NET/Plugin: could not load libnccl-net.so, using the internal "
                "network plugin"
            ),
            "Network is up",
        ),
    ),
    Rule(
        name="other-fabric",
        reason="network",
        pattern=LazyPattern(
            r"\b(?:cxi\d{0,2}|hsn\d)\b:? .{0,60}[Ll]ink (?:is )?[Dd]own"
            r"|\bPSM[23] can'?t open hfi unit|\bpsm[23]?_\w{2,40}\b.{0,60}(?:error|failed"
            r"|timed out)"
            r"|\bhfi1_\d: .{0,40}[Ll]ink (?:is )?[Dd]own|\bNET_UNREACHABLE\b"
            r"|\bcxil?_?\w{0,20}\b.{0,60}CQ error"
            r"|\bucp_\w{2,40}\(.{0,60}\) failed|\bpml_ucx\S{0,20} .{0,20}[Ee]rror: "
            r"|\b(?:opa|omnipath|slingshot|rdma)\w{0,12}\b.{0,60}(?:link (?:is )?down"
            r"|port (?:is )?down)"
            r"|libfabric:.{0,120}(?:Event Queue overflow|Cannot register memory|Invalid address)"
            r"|[Nn]o (?:suitable )?provider found for (?:the )?fabric"
            r"|MPI processes are unable to reach each other|Open MPI \w{2,5} MTL is aborting"
            r"|\bfi_\w{2,30}\b.{0,20}(?:failed|error)|[Ee]rror returned from fi_\w{2,30}"
            r"|OFI plugin initNet\(\) failed"
            r"|NET/OFI (?:Could ?n.t|Creating new endpoint .{0,60}failed)"
        ),
        unless=LazyPattern(r"NCCL INFO|: INFO|^INFO|[Ff]alling back|retry"),
        confidence=0.82,
        weight=Weight.SYMPTOM,
        positives=(
            "cxi0: Network link down, flushing",
            "libfabric:33:cxi:ep_data:cxip_evtq_eq: Cassini Event Queue overflow detected",
            "libfabric:99:core:mr:ofi_mr_cache_search(): Cannot register memory",
            "PSM2 can't open hfi unit: -1 (err=23)",
            "psm3_ep_connect returned error Operation timed out",
            "hfi1_0: Link down reason: cable unplugged",
            (
                "[n12:2123] pml_ucx.c:419 Error: ucp_ep_create(proc=3) failed: Destination is "
                "unreachable"
            ),
            "No provider found for fabric",
            "At least one pair of MPI processes are unable to reach each other for",
            "mtl_ofi.h:101: Error returned from fi_cq_readerr: Resource temporarily unavailable",
        ),
        negatives=(
            "hsn0: link is up",
            "NCCL INFO NET/OFI Couldn't find a plugin",
            "libfabric:33:cxi: opened",
        ),
    ),
)
