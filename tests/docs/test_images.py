"""Pictures of the documentation are shown somewhere, and small enough for every clone."""

from __future__ import annotations

from docs.pages import ROOT

MOST_BYTES = 200_000
IMAGES = ROOT / "docs" / "images"


def test_every_picture_is_small_and_shown():
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    words = "\n".join(page.read_text() for page in pages)

    images = sorted(IMAGES.iterdir())
    assert images
    assert [one.name for one in images if one.stat().st_size > MOST_BYTES] == []
    assert [one.name for one in images if f"images/{one.name}" not in words] == []
