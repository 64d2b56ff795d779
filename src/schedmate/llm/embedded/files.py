"""Where the model's file lies."""

from __future__ import annotations

import hashlib
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from schedmate.llm.embedded.manifest import QWEN, Manifest

if TYPE_CHECKING:
    from pathlib import Path

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
