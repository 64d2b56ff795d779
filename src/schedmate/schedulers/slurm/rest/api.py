"""Which version of its interface a slurmrestd speaks, and which paths it has, by its OpenAPI
document.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote, urlencode

from schedmate.model import SchedulerError
from schedmate.schedulers.slurm.rest.client import NoSuchPath

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from schedmate.schedulers.slurm.rest.client import RestClient

T = TypeVar("T")
_DOCUMENT = "/openapi/v3"
_OLDEST, _NEWEST = 36, 45
"""The versions `v0.0.N` whose answers are understood: those of Slurm 20.11 to 26.05."""
_VERSIONED = re.compile(r"/slurm/v0\.0\.(\d+)/(.+?)/?")


class RestApi:
    """Paths are named without their version: `jobs`, `job/{job_id}`."""

    def __init__(self, client: RestClient) -> None:
        self.client = client
        self._version = 0
        self._paths: dict[str, str] = {}

    @property
    def version(self) -> str:
        self._negotiate()
        return f"v0.0.{self._version}"

    def offers(self, name: str) -> bool:
        self._negotiate()
        return name in self._paths

    def get(self, name: str, part: str, kind: type = list, job_id: str = "") -> Any:
        return self._with_path(name, job_id, lambda path: self.client.get(path, part, kind))

    def ask(
        self,
        method: str,
        name: str,
        body: object = None,
        *,
        job_id: str = "",
        query: Mapping[str, str] | None = None,
        done_by: str = "",
    ) -> dict[str, Any]:
        more = f"?{urlencode(query)}" if query else ""
        return self._with_path(
            name, job_id, lambda path: self.client.ask(method, path + more, body, done_by)
        )

    def _with_path(self, name: str, job_id: str, call: Callable[[str], T]) -> T:
        """After an upgrade of slurmrestd the old version's paths are gone: once more."""
        for last in (False, True):
            self._negotiate()
            template = self._paths.get(name)
            if template is None:
                raise SchedulerError(f"slurmrestd {self.version} does not offer {name}")
            try:
                return call(template.replace("{job_id}", quote(job_id, safe="")))
            except NoSuchPath:
                if last:
                    raise
                self._version, self._paths = 0, {}
        raise AssertionError

    def _negotiate(self) -> None:
        if not self._paths:
            found = self.client.get(_DOCUMENT, "paths", dict)
            self._version = best_version(found)
            self._paths = paths_of(found, self._version)


def best_version(paths: Iterable[str]) -> int:
    """The newest that both sides know."""
    offered = {int(found[1]) for found in map(_VERSIONED.fullmatch, paths) if found}
    known = [number for number in offered if _OLDEST <= number <= _NEWEST]
    if not known:
        shown = ", ".join(f"v0.0.{number}" for number in sorted(offered)) or "no version"
        raise SchedulerError(
            f"slurmrestd offers {shown}, and SchedMate knows v0.0.{_OLDEST} to v0.0.{_NEWEST}: "
            "use Slurm's commands (slurm.rest_url = '') or a newer SchedMate"
        )
    return max(known)


def paths_of(paths: Iterable[str], version: int) -> dict[str, str]:
    """Without their version and the slash that some of them end with."""
    found = ((path, _VERSIONED.fullmatch(path)) for path in paths)
    return {match[2]: path for path, match in found if match and int(match[1]) == version}
