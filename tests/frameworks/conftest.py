"""The environment of the frameworks, and all their runs side by side."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from frameworks.cases import Case
from frameworks.following import Followed, Launcher, follow

ROOT = Path(__file__).parents[2]
AT_ONCE = 3
"""They sleep most of the time."""


@pytest.fixture(scope="session")
def frameworks_python() -> Path:
    python = ROOT / ".venv-frameworks" / "bin" / "python"
    if not python.exists():
        pytest.skip("no environment of frameworks here; scripts/make-frameworks-env makes it")
    usable = subprocess.run([python, "-c", "import torch"], capture_output=True, check=False)
    if usable.returncode != 0:
        pytest.skip("the environment of frameworks has no usable torch on this platform")
    return python


@pytest.fixture(scope="session")
def followed(
    request: pytest.FixtureRequest,
    frameworks_python: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Callable[[Case], Followed]]:
    """What was seen of a case's run; all that are asked for are started in order at once."""
    folder = tmp_path_factory.mktemp("frameworks")
    wanted = dict.fromkeys(
        item.callspec.params["case"]
        for item in request.session.items
        if isinstance(item, pytest.Function)
        and hasattr(item, "callspec")
        and isinstance(item.callspec.params.get("case"), Case)
    )
    launcher = Launcher(frameworks_python)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        runs = {
            case: pool.submit(
                follow, launcher, case.command, folder / f"{case.name}.log", case.workload
            )
            for case in wanted
        }
        yield lambda case: runs[case].result()
        pool.shutdown(cancel_futures=True)
    launcher.close()
