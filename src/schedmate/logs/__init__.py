"""Shared by all readers of logs: which files, their bytes, which rank wrote a line, when."""

from schedmate.logs.decoding import is_plain, plain
from schedmate.logs.files import chunks_of, logs_at, open_regular, pieces_of
from schedmate.logs.prefixes import Sender, is_bare_number, opened, unwrap
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
