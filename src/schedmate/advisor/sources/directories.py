"""What lies in a job's directories, asked by name and remembered: the cache asks again.

A directory that is outside, if only through a link, is taken for empty.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from itertools import islice

from schedmate.files import INVOKER, Reader, entries, is_directory, mode_of, place_of

_MOST_LISTED = 5000
_MOST_WALKED = 500
_Kind = bool | None
"""Whether a name is a directory; None: there is no such name."""


class Directories:
    def __init__(self) -> None:
        self.reader: Reader = INVOKER
        self._roots: set[str] = set()
        self._reals: dict[str, str] = {}
        self._listed: dict[str, dict[str, bool]] = {}
        self.asked: dict[str, dict[str, _Kind]] = {}
        """By directory and name, with the answers."""

    def allow(self, roots: Iterable[str]) -> None:
        """Directories out of which nothing is listed."""
        self._roots.update(map(self.real_directory, roots))

    def real_directory(self, path: str) -> str:
        """Without links, as it was when it was first looked at."""
        known = self._reals.get(path)
        if known is None:
            known = self._reals[path] = self._real_directory(path)
        return known

    def _real_directory(self, path: str) -> str:
        """From what is known of the directory above, which most often was looked at before."""
        if self.reader is not INVOKER:
            return self._place(path)
        above, _, name = path.rpartition("/")
        known = self._reals.get(above)
        if known is None or name in ("", ".", ".."):
            return os.path.realpath(path)
        found = f"{known.rstrip('/')}/{name}"
        try:
            return os.path.realpath(path) if stat.S_ISLNK(os.lstat(found).st_mode) else found
        except (OSError, ValueError):
            return os.path.realpath(path)

    def _place(self, path: str) -> str:
        """As the job's owner finds it; of what that user cannot open, nothing is read anyway."""
        try:
            opened = self.reader.open_directory(path)
        except OSError:
            return os.path.normpath(path)
        try:
            return place_of(opened) or os.path.normpath(path)
        finally:
            os.close(opened)

    def real(self, path: str) -> str:
        """Without links; for another user's reader the name itself, which is opened as it is."""
        if self.reader is not INVOKER:
            return path
        parent, name = os.path.split(path)
        found = f"{self.real_directory(parent).rstrip('/')}/{name}"
        if name in ("", ".", "..") or stat.S_ISLNK(os.lstat(found).st_mode):
            return os.path.realpath(path)
        return found

    def kind(self, directory: str, name: str) -> _Kind:
        """Of a name; `*.py` asks for any file that ends so."""
        asked = self.asked.get(directory)
        if asked is None:
            asked = self.asked[directory] = {}
        if name not in asked:
            asked[name] = self._kind(directory, name)
        return asked[name]

    def _kind(self, directory: str, name: str) -> _Kind:
        listed = self._list(directory)
        if name.startswith("*"):
            return False if any(each.endswith(name[1:]) for each in listed) else None
        if name in listed or len(listed) < _MOST_LISTED:
            return listed.get(name)
        mode = mode_of(self.reader, f"{directory}/{name}")
        return stat.S_ISDIR(mode) if mode else None

    def files_below(self, directory: str) -> Iterator[str]:
        """Their paths from there, a directory's own first."""
        waiting = [""]
        for below in waiting:
            listed = self._list(f"{directory}/{below}")
            yield from (below + name for name, folder in sorted(listed.items()) if not folder)
            folders = (f"{below}{name}/" for name, folder in sorted(listed.items()) if folder)
            waiting += islice(folders, max(0, _MOST_WALKED - len(waiting)))

    def folders(self, directory: str) -> list[str]:
        return sorted(name for name, is_folder in self._list(directory).items() if is_folder)

    def _list(self, directory: str) -> dict[str, bool]:
        listed = self._listed.get(directory)
        if listed is None:
            listed = self._listed[directory] = self._entries(directory)
        return listed

    def _entries(self, directory: str) -> dict[str, bool]:
        try:
            real = self.real_directory(directory)
            if not any(within(real, root) for root in self._roots):
                return {}
            listed = entries(self.reader, directory, _MOST_LISTED)
            return {each.name: is_directory(self.reader, directory, each) for each in listed}
        except (OSError, ValueError):
            return {}


def within(path: str, root: str) -> bool:
    return path == root or path.startswith(root if root.endswith("/") else f"{root}/")
