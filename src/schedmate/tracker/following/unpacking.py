"""What of a gzip archive can be unpacked so far: it may still grow, in one member or in many."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

MAGIC = b"\x1f\x8b"
_PIECE = 262_144
_GZIP_BITS = 31


class Unpacker:
    """Fed with an archive bit by bit; its state is as large as the window of the compression."""

    def __init__(self) -> None:
        self.damaged = False
        """Nothing that follows can be read."""
        self.between_members = True
        self._inflate = zlib.decompressobj(_GZIP_BITS)

    def feed(self, packed: bytes) -> Iterator[bytes]:
        """Yield what these bytes add, in pieces of bounded size; stop where damage begins."""
        while not self.damaged and (packed := self._padding_dropped(packed)):
            try:
                yield from self._of_member(packed)
            except zlib.error:
                self.damaged = True
            packed = self._inflate.unused_data
            if self._inflate.eof:
                self.between_members = True
                self._inflate = zlib.decompressobj(_GZIP_BITS)

    def _padding_dropped(self, packed: bytes) -> bytes:
        return packed.lstrip(b"\0") if self.between_members else packed

    def _of_member(self, packed: bytes) -> Iterator[bytes]:
        self.between_members = False
        while True:
            piece = self._inflate.decompress(packed, _PIECE)
            packed = self._inflate.unconsumed_tail
            if piece:
                yield piece
            elif not packed:
                return
