"""Hubs, indexes, trackers and stores outside the cluster."""

from schedmate.handler.rules.base import LazyPattern, Rule, Weight

_GOES_ON = LazyPattern(
    r"retry loop|retrying|will retry|[Rr]etry(?:ing)?\(|attempt \d{1,3}(?:/| of )|falling back"
    r"|\[W[ \d]|using cached|offline instead|Retrying in|trying again|Trying again"
)
_SERVER_ERROR = (
    r"(?:429|50[0234]|52[0-4])(?::| -)? ?(?:Server Error|Client Error: Too Many Requests"
    r"|Too Many Requests|Internal Server Error|Bad Gateway|Service (?:Temporarily )?Unavailable"
    r"|Gateway Time-?out|Server error)"
)

RULES = (
    Rule(
        # of a known service, or words of its client only
        name="http-client",
        reason="service_unreachable",
        pattern=LazyPattern(
            r"^(?:[\w.]{1,120}\.)?(?:ConnectTimeout|ReadTimeout|ConnectError"
            r"|MaxRetryError|NewConnectionError|NameResolutionError|SSLError"
            r"|SSLCertVerificationError"
            r"|SSLEOFError|gaierror|URLError|RemoteDisconnected|CommError|ProxyError"
            r"|ChunkedEncodingError|IncompleteRead|ProtocolError|RemoteProtocolError|httpx\.ReadError"
            r"|ReadTimeoutError|ConnectTimeoutError|ClientConnectorError|ClientConnectorDNSError"
            r"|ServerDisconnectedError|ClientOSError|ClientPayloadError|EndpointConnectionError"
            r"|ConnectionClosedError|HTTPClientError|ServerSelectionTimeoutError|APIConnectionError"
            r"|APITimeoutError|RateLimitError|InternalServerError|ServiceUnavailable"
            r"|TooManyRequests|GatewayTimeout|BadGateway|CondaHTTPError|CondaSSLError"
            r"|HfHubHTTPError|NoSuchHostError)(?::|$)"
            r"|^(?:requests|urllib3|redis|aiohttp|httpx|wandb|mlflow|botocore|elasticsearch|pymongo"
            r"|huggingface_hub|datasets)\.[\w.]{0,80}ConnectionError(?::|$)"
            r"|^(?:[\w.]{1,120}\.)?\w{1,60}(?:Error|Exception): [Cc]onnection [Ee]rror\b"
            r"|^ConnectionError: .{0,200}(?:https?|HTTP|[Cc]ouldn't reach|host=|[Mm]ax retries)"
            r"|Temporary failure in name resolution|[Cc]ouldn't connect to 'https?:"
            r"|[Cc]ouldn't reach ['\"]?[\w./:\-]{3,200}|Name or service not known"
            r"|nodename nor servname|HTTPS?ConnectionPool\(.{0,200}(?:Max retries|timed out)"
            r"|(?:HTTP Error |HTTPError: |status(?: code|_code)?[:= ]{1,3}|error '|code: )"
            + _SERVER_ERROR
            + r"|\b50[0234] Server Error|429 Client Error"
            r"|HTTP Error (?:429|50[0234])\b|StatusCode\.UNAVAILABLE"
            r"|failed to connect to all addresses"
            r"|\bTimeout connecting to|[Cc](?:an't|annot"
            r"|ould not) connect to (?:\w{1,20} )?(?:server|host"
            r"|database|broker|endpoint|proxy)\b|(?:Exception|Error): \(?(?:429|50[0234])\)?\b"
            r"|could not (?:connect to server|translate host name)|Error 111 connecting to"
            r"|API request to http\S{1,200} failed with exception"
            r"|Connection error, and we cannot find|[Ee]rror communicating with wandb"
            r"|[Cc]ouldn't communicate with backend|Run initialization has timed out"
            r"|CERTIFICATE_VERIFY_FAILED|Could not connect to the "
            r"endpoint URL|certificate verify failed|Failed to establish a new connection"
        ),
        errors_only=True,
        unless=LazyPattern(
            r"localhost:29\d{3}|torch\.distributed|c10d|\b40[1346] (?:Client Error|Unauthorized|"
            r"Forbidden|Not Found)|HTTP Error 40[1346]"
        ),
        confidence=0.9,
        positives=(
            "requests.exceptions.ConnectionError: HTTPSConnectionPool(host='hub', port=443)",
            "socket.gaierror: [Errno -3] Temporary failure in name resolution",
            "OSError: We couldn't connect to 'https://hub' to load this file",
            (
                "requests.exceptions.SSLError: HTTPSConnectionPool(host='hub', port=443): Max "
                "retries exceeded with url: /api (Caused by SSLError(SSLEOFError(8, 'EOF')))"
            ),
            "urllib.error.HTTPError: HTTP Error 503: Service Unavailable",
            (
                "requests.exceptions.HTTPError: 504 Server Error: Gateway Time-out for url: "
                "https://hub/api"
            ),
            "httpx.ConnectError: [Errno 111] Connection refused",
            "kubernetes.client.exceptions.ApiException: (503) Reason: Service Unavailable",
            "redis.exceptions.TimeoutError: Timeout connecting to server",
            "pymysql.err.OperationalError: (2003, \"Can't connect to MySQL server on 'db'\")",
            (
                "botocore.exceptions.EndpointConnectionError: Could not connect to the endpoint "
                'URL: "https://s3.eu.amazonaws.com/b/k"'
            ),
            "wandb.errors.errors.CommError: Run initialization has timed out after 90.0 sec.",
            "ConnectionError: Couldn't reach 'squad' on the Hub (ConnectTimeout)",
            (
                "ValueError: Connection error, and we cannot find the requested files in the "
                "cached path. Please try again or make sure your Internet connection is on."
            ),
            "wandb.errors.UsageError: Error communicating with wandb process",
            (
                "clearml.backend_api.session.session.LoginError: Connection Error: it seems "
                "*api_server* is misconfigured. Is this the ClearML API server http://x:8008 ?"
            ),
        ),
        negatives=(
            "ConnectionResetError: [Errno 104] Connection reset by peer",
            "requests.exceptions.HTTPError: 404 Client Error: Not Found for url: https://x",
            "urllib.error.HTTPError: HTTP Error 404: Not Found",
        ),
    ),
    Rule(
        # this alone does not name the service
        name="connection-refused",
        reason="service_unreachable",
        pattern=LazyPattern(
            r"^(?:[\w.]{1,120}\.)?(?:ConnectionRefusedError|ConnectionError|ConnectionAbortedError)"
            r"(?::|$)|^(?:TimeoutError|OSError): \[Errno 110\] Connection timed out$"
        ),
        errors_only=True,
        confidence=0.6,
        weight=Weight.SYMPTOM,
        positives=(
            "ConnectionRefusedError: [Errno 111] Connection refused",
            "TimeoutError: [Errno 110] Connection timed out",
        ),
        negatives=("TimeoutError: step took too long",),
    ),
    Rule(
        # words of a lost connection under an exception of any library
        name="lost-connection",
        reason="service_unreachable",
        pattern=LazyPattern(
            r"^(?:[\w.]{1,120}\.)\w{1,60}(?:Error|Exception|Timeout)\b.{0,200}(?:Connection "
            r"(?:aborted|reset by peer|timed out)|[Ss]erver disconnected|[Rr]equest timed out"
            r"|[Rr]ead timed out|[Gg]ateway [Tt]ime-?out|[Tt]oo many requests|try again later"
            r"|temporarily unavailable|rate limit(?:ed| exceeded))"
            r"|StatusCode\.(?:DEADLINE_EXCEEDED|RESOURCE_EXHAUSTED|ABORTED)"
            r"|^\w{1,60}(?:Error|Exception): .{0,200}(?:took too long to (?:download|respond|answer"
            r"|connect)|[Dd]ownload\w{0,3} (?:has )?timed out|gave up (?:downloading|fetching)"
            r"|(?:download|fetch|connect|upload)\w{0,3} .{0,60}failed after \d{1,3} "
            r"(?:tries|retries|attempts))"
            r"|Error reading SSH protocol banner|(?:[Ss]ervice|[Ss]erver) (?:is )?"
            r"(?:temporarily |currently )unavailable|\b(?:SlowDown|Throttl(?:ing|ed)\w{0,20})\b"
        ),
        unless=LazyPattern(
            r"torch\.distributed|c10d|nccl|NCCL|gloo|\bray\.|multiprocessing|insufficient_quota"
        ),
        errors_only=True,
        confidence=0.65,
        weight=Weight.SYMPTOM,
        positives=(
            "azure.core.exceptions.ServiceResponseError: ('Connection aborted.', x)",
            "grpc.RpcError: StatusCode.DEADLINE_EXCEEDED, Deadline Exceeded",
            "paramiko.ssh_exception.SSHException: Error reading SSH protocol banner",
            "RuntimeError: index.json took too long to download, bailing out: 60.0 < 60.003 sec.",
        ),
        negatives=(
            "torch.distributed.DistBackendError: Connection reset by peer",
            "ConnectionResetError: [Errno 104] Connection reset by peer",
        ),
    ),
    Rule(
        # command-line tools; a loop in the script may try again, so clearer causes go first
        name="download-command",
        reason="service_unreachable",
        pattern=LazyPattern(
            r"^curl: \((?:5|6|7|16|18|28|35|52|55|56|58|60|77|92)\) "
            r"|^curl: \(22\) .{0,80}error: (?:429|5\d\d)"
            r"|^wget: unable to resolve host|^(?:.{0,80}\.\.\. )?failed: (?:Connection (?:refused"
            r"|timed out)|Temporary failure in name resolution|Name or service not known|No route)"
            r"|^(?:\d{4}-\S{1,20} \S{1,12} )?ERROR (?:429|50[0234]): |^OpenSSL: error:"
            r"|^fatal: unable to (?:access|connect to|look up) .{0,200}(?:[Cc]ould ?n.t "
            r"(?:resolve|connect)|Could not resolve|Failed to connect|timed out|error: 5\d\d|SSL"
            r"|TLS"
            r"|[Cc]onnection (?:refused|reset)|Name or service|Temporary failure)"
            r"|^ssh: (?:connect to host .{1,120}: (?:Connection (?:timed out|refused)|No route)"
            r"|Could not resolve hostname)|RPC failed; curl \d{1,3}|^fatal: the remote end hung up"
            r"|^fatal: early EOF|unexpected disconnect while reading sideband"
            r"|^(?:E|Err): ?.{0,200}(?:Temporary failure resolving|Could not (?:resolve|connect)"
            r"|Failed to fetch|Unable to fetch|Connection (?:timed out|failed))"
            r"|^ERROR: Could not install packages due to an (?:OSError|EnvironmentError): "
            r"HTTPS?ConnectionPool|CondaHTTPError: HTTP (?:000|5\d\d)|CondaSSLError"
            r"|^(?:An )?HTTP error occurred when trying to retrieve this URL"
            r"|fatal error: (?:An error occurred \((?:SlowDown|503|500|ServiceUnavailable)\)"
            r"|Could not connect to the endpoint URL)"
            r"|^gsutil.{0,80}ServiceException: 50\d|ServerNotFoundError"
        ),
        unless=_GOES_ON,
        confidence=0.82,
        weight=Weight.SYMPTOM,
        positives=(
            "curl: (6) Could not resolve host: huggingface.co",
            "curl: (28) Operation timed out after 300000 milliseconds with 0 bytes received",
            "wget: unable to resolve host address ‘data.example.org’",  # noqa: RUF001 - as wget does
            (
                "fatal: unable to access 'https://github.com/a/b/': Could not resolve host: "
                "github.com"
            ),
            "ssh: connect to host github.com port 22: Connection timed out",
            (
                "ERROR: Could not install packages due to an OSError: HTTPSConnectionPool(host="
                "'pypi.org', port=443): Max retries exceeded with url: /simple/x/"
            ),
            "CondaHTTPError: HTTP 000 CONNECTION FAILED for url <https://repo.anaconda.com/pkgs>",
            "E: Failed to fetch http://archive.ubuntu.com/x.deb  Temporary failure resolving 'a'",
            "2026-01-01 00:00:00 ERROR 503: Service Unavailable.",
        ),
        negatives=(
            "curl: (22) The requested URL returned error: 404",
            "wandb: Network error (ConnectionError), entering retry loop.",
            (
                "Retrying (Retry(total=4, connect=None)) after connection broken by "
                "'NewConnectionError': /simple/torch/"
            ),
            "fatal: not a git repository (or any of the parent directories): .git",
        ),
    ),
    Rule(
        # the last of a client's tries, and why it failed
        name="pip-retries",
        reason="service_unreachable",
        pattern=LazyPattern(
            r"Retry\(total=0, .{0,160}after connection broken by .{0,300}(?:name resolution"
            r"|Name or service|[Ff]ailed to (?:establish|resolve)|timed out|[Tt]imeout|refused"
            r"|unreachable|SSL|certificate|Cannot connect|Remote end closed|reset by peer)"
        ),
        confidence=0.84,
        weight=Weight.SYMPTOM,
        positives=(
            (
                "Retrying (Retry(total=0, connect=None, read=None, redirect=None, status=None)) "
                "after "
                "connection broken by 'NewConnectionError: Failed to establish a new connection: "
                "[Errno -3] Temporary failure in name resolution': /simple/peft/"
            ),
        ),
        negatives=(
            (
                "Retrying (Retry(total=4, connect=None)) after connection broken by "
                "'NewConnectionError: [Errno -3] Temporary failure in name resolution'"
            ),
        ),
    ),
    Rule(
        # pip found nothing at all of that name: an index out of reach, or a name mistyped
        name="pip-no-versions",
        reason="service_unreachable",
        pattern=LazyPattern(
            r"Could not find a version that satisfies the requirement .{1,160}\(from versions: "
            r"(?:none)?\)|Retry\(total=0, .{0,120}after connection broken by"
        ),
        confidence=0.49,
        weight=Weight.SYMPTOM,
        positives=(
            (
                "ERROR: Could not find a version that satisfies the requirement torch==2.9 (from "
                "versions: none)"
            ),
            (
                "  Retrying (Retry(total=0, connect=None, read=None)) after connection broken by "
                "'ProtocolError('Connection aborted.')': /simple/a/"
            ),
        ),
        negatives=(
            (
                "Could not find a version that satisfies the requirement a==9 (from "
                "versions: 1.0, 2.0)"
            ),
            "  Retrying (Retry(total=4, connect=None)) after connection broken by 'ReadTimeout'",
        ),
    ),
    Rule(
        # a client that gave up without an exception of its own
        name="experiment-tracker",
        reason="service_unreachable",
        pattern=LazyPattern(
            r"wandb: ERROR .{0,160}(?:[Nn]etwork|timed out|Connection|50[0234]|unreachable)"
            r"|(?:Failed|Unable|Could not) to (?:connect|reach|download|fetch|upload"
            r"|resolve)\b.{0,160}"
            r"(?:https?://|Temporary failure|Connection (?:refused|timed out)|Max retries"
            r"|Name or service not known|50[0234])"
            r"|HTTPS?ConnectionPool\(.{0,240}(?:Max retries exceeded|Read timed out)"
            r"|certificate verify failed|CERTIFICATE_VERIFY_FAILED"
            r"|failed to connect to all addresses"
        ),
        unless=_GOES_ON,
        confidence=0.7,
        weight=Weight.SYMPTOM,
        positives=(
            "wandb: ERROR Error while calling W&B API: Connection timed out",
            (
                "Failed to download https://hub/model.bin: <urlopen error [Errno -3] Temporary "
                "failure in name resolution>"
            ),
            (
                "'(MaxRetryError(\"HTTPSConnectionPool(host='huggingface.co', port=443): Max "
                "retries exceeded with url: /x\"))' thrown while requesting HEAD https://hub/x"
            ),
        ),
        negatives=(
            "wandb: Network error (HTTPError), entering retry loop.",
            "Failed to fetch https://hub/x: 503, retrying in 5 s",
        ),
    ),
    Rule(
        # usually the peer died first
        name="connection-lost",
        reason="python_exception",
        pattern=LazyPattern(r"^(?:ConnectionResetError|BrokenPipeError|EOFError)(?::|$)"),
        unless=LazyPattern(r"Compressed file ended"),
        errors_only=True,
        confidence=0.45,
        weight=Weight.WRAPPER,
        positives=("BrokenPipeError: [Errno 32] Broken pipe", "EOFError"),
        negatives=("EOFErrorCount: 1",),
    ),
)
