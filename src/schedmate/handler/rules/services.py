"""Hubs, indexes, trackers and stores outside the cluster."""

import re

from schedmate.handler.rules.base import Rule, Weight

RULES = (
    Rule(
        reason="service_unreachable",
        pattern=re.compile(
            r"^(?:[\w.]{1,120}\.)?(?:ConnectionRefusedError|ConnectionError|ConnectTimeout"
            r"|ReadTimeout|ConnectError|MaxRetryError|NewConnectionError|NameResolutionError|SSLError"
            r"|gaierror|URLError|RemoteDisconnected|CommError)(?::|$)"
            r"|Temporary failure in name resolution|[Cc]ouldn't connect to 'https?:"
            r"|Name or service not known|\b50[234] Server Error"
        ),
        errors_only=True,
        confidence=0.88,
        positives=(
            "requests.exceptions.ConnectionError: HTTPSConnectionPool(host='hub', port=443)",
            "socket.gaierror: [Errno -3] Temporary failure in name resolution",
            "OSError: We couldn't connect to 'https://hub' to load this file",
        ),
        negatives=("ConnectionResetError: [Errno 104] Connection reset by peer",),
    ),
    Rule(
        # usually the peer died first
        reason="python_exception",
        pattern=re.compile(r"^(?:ConnectionResetError|BrokenPipeError|EOFError)(?::|$)"),
        errors_only=True,
        confidence=0.45,
        weight=Weight.SYMPTOM,
        positives=("ConnectionResetError: [Errno 104] Connection reset by peer", "EOFError"),
        negatives=("EOFErrorCount: 1",),
    ),
)
