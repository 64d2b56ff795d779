"""The bill of materials names all that is locked, with its digests."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

CLONE = Path(__file__).parents[2]


@pytest.mark.processes
def test_every_locked_package_is_in_it_once():
    locks = [CLONE / "requirements.lock", CLONE / "requirements-sim.lock"]
    done = subprocess.run(
        [sys.executable, CLONE / "scripts" / "sbom", *locks], check=True, capture_output=True
    )
    bill = json.loads(done.stdout)
    text = "".join(lock.read_text("utf-8") for lock in locks)
    locked = set(re.findall(r"^([\w.-]+)==([^\s;\\]+)", text, re.MULTILINE))
    named = [(one["name"], one["version"]) for one in bill["components"]]
    assert sorted(named) == sorted(locked)
    digests = set(re.findall(r"sha256:([0-9a-f]{64})", text))
    kept = {
        file["hashes"][0]["content"]
        for one in bill["components"]
        for file in one["externalReferences"]
    }
    assert kept == digests
