"""What everybody who reads logs shares: which files, which rank wrote a line, and when."""

from schedmate.logs.envelope import DAY_S, is_bare_number, stamped_at, unwrap
from schedmate.logs.files import logs_at

__all__ = ["DAY_S", "is_bare_number", "logs_at", "stamped_at", "unwrap"]
