"""A page in one file that needs nothing else: no network, and no script to be read."""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from hashlib import sha256
from pathlib import Path

from schedmate import __version__
from schedmate.design.words import text

STATIC = Path(__file__).parent / "static"
"""What the service's pages have too: the stylesheet, the scripts of colours and plots."""


def document(heading: str, lead: str, body: str, *, command: str, title: str | None = None) -> str:
    """A page in the design of the service; `body` is HTML already, all else plain words.

    `command` is what makes it again.
    """
    style, first, last = _file("schedmate.css"), _file("theme.js"), _drawing()
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_allowed(style, first, last)}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f"<title>{text(title or f'{heading} · SchedMate')}</title>"
        f"<style>{style}</style><script>{first}</script></head><body>"
        f'<header class="top"><span class="brand">{_icon()}SchedMate</span>'
        '<div class="who"><button type="button" class="theme" data-theme-toggle hidden '
        'aria-label="Switch between dark and light">◐</button></div></header>'
        f'<main class="report"><h1>{text(heading)}</h1><p class="soft">{text(lead)}</p>{body}'
        f"<h2>To make this again</h2><pre>{text(command)}</pre></main>"
        f'<footer class="foot">SchedMate {text(__version__)}</footer>'
        f"<script>{last}</script></body></html>\n"
    )


@cache
def _file(name: str) -> str:
    return (STATIC / name).read_text(encoding="utf-8").strip()


def _icon() -> str:
    """Inside a page a picture needs no name space."""
    return _file("icon.svg").replace(' xmlns="http://www.w3.org/2000/svg"', ' aria-hidden="true"')


def _drawing() -> str:
    return _file("uplot.min.js") + "\n" + _file("charts.js")


def _allowed(style: str, *scripts: str) -> str:
    """A browser takes our style and our scripts and nothing else, whatever a trace brings along."""
    known = " ".join(map(_fingerprint, scripts))
    return f"default-src 'none'; style-src {_fingerprint(style)}; script-src {known}"


def _fingerprint(content: str) -> str:
    return f"'sha256-{b64encode(sha256(content.encode()).digest()).decode()}'"
