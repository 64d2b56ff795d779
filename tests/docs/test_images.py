"""Pictures of the documentation are shown somewhere, small enough for every clone, and not old."""

from __future__ import annotations

import json
import runpy

import pytest

from docs.pages import ROOT

MOST_BYTES = 200_000
IMAGES = ROOT / "docs" / "images"
SCRIPT = runpy.run_path(str(ROOT / "scripts" / "pictures"))


def test_every_picture_is_small_and_shown():
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    words = "\n".join(page.read_text() for page in pages)

    images = sorted(path for path in IMAGES.iterdir() if path.suffix != ".json")
    assert images
    assert [one.name for one in images if one.stat().st_size > MOST_BYTES] == []
    assert [one.name for one in images if f"images/{one.name}" not in words] == []
    assert {one.name.replace("-dark", "") for one in images} == set(SCRIPT["SHOWS"])


@pytest.mark.parametrize("picture", SCRIPT["SHOWS"])
def test_no_picture_is_older_than_what_it_shows(picture):
    made = json.loads((IMAGES / "made.json").read_text())
    shows = ", ".join(SCRIPT["SHOWS"][picture])
    told = f"docs/images/{picture} is older than what it shows ({shows}): run scripts/pictures"
    assert made[picture] == SCRIPT["look_of"](picture), told


def test_a_comment_changes_no_picture_and_code_does():
    code_of = SCRIPT["_code_of"]
    assert code_of('"""Says."""\nx = 1  # so\n') == code_of('"""Says more."""\n\nx = 1\n')
    assert code_of("x = 1\n") != code_of("x = 2\n")
