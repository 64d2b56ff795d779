"""What everybody who reads logs shares: which files, which rank wrote a line, and when."""

from schedmate.logs.files import logs_at
from schedmate.logs.prefixes import Sender, is_bare_number, opened, unwrap
from schedmate.logs.times import DAY_S, stamped_at

__all__ = ["DAY_S", "Sender", "is_bare_number", "logs_at", "opened", "stamped_at", "unwrap"]
