"""What everybody who reads logs shares: which files, their bytes, which rank wrote a line, when."""

from schedmate.logs.chunks import chunks_of, pieces_of
from schedmate.logs.files import logs_at
from schedmate.logs.opening import open_regular
from schedmate.logs.prefixes import Sender, is_bare_number, opened, unwrap
from schedmate.logs.texts import is_plain, plain
from schedmate.logs.times import DAY_S, stamped_at

__all__ = [
    "DAY_S",
    "Sender",
    "chunks_of",
    "is_bare_number",
    "is_plain",
    "logs_at",
    "open_regular",
    "opened",
    "pieces_of",
    "plain",
    "stamped_at",
    "unwrap",
]
