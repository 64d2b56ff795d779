"""What is not ours is what its list says, and nothing else is there."""

from __future__ import annotations

import re
from hashlib import sha256

import pytest

from schedmate.design.document import STATIC as DESIGN
from schedmate.web.app import STATIC

_ROW = re.compile(
    r"^\| `([^`]+)` \| npm `[^`]+` \d[^|]* \| [^|]+ \| `([0-9a-f]{64})` \|$", re.MULTILINE
)


@pytest.mark.parametrize("folder", [STATIC, DESIGN], ids=["web", "design"])
def test_a_vendored_file_is_the_one_of_its_list(folder):
    listed = dict(_ROW.findall((folder / "README.md").read_text()))
    digests = {path.name: sha256(path.read_bytes()).hexdigest() for path in folder.glob("*.min.*")}

    assert listed == digests
    assert listed


def test_the_plots_library_is_small_and_has_its_licence():
    assert (DESIGN / "uplot.min.js").stat().st_size < 60_000
    assert "MIT" in (DESIGN / "uplot.LICENSE").read_text()
