"""`schedmate pause`"""

from __future__ import annotations

import re

import click

from schedmate.cli._common import json_option, verb
from schedmate.cli._pausing import carry_out

_SPAN = re.compile(r"([0-9]+(?:\.[0-9]+)?)([smhd])")
_SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}
_LONGEST_S = 366 * 86_400.0


def _seconds(_: click.Context, __: click.Parameter, text: str | None) -> float | None:
    if text is None:
        return None
    found = _SPAN.fullmatch(text)
    seconds = float(found[1]) * _SECONDS[found[2]] if found else 0.0
    if not 0 < seconds <= _LONGEST_S:
        raise click.BadParameter(f"{text!r} is no time of up to a year such as 30m, 2h or 1d")
    return seconds


@verb(examples="schedmate pause\nschedmate pause --for 2h")
@click.option(
    "--for",
    "for_s",
    metavar="TIME",
    callback=_seconds,
    help="After which it ends by itself: 30m, 2h, 1d. [default: until `schedmate resume`]",
)
@json_option
def command(for_s: float | None, as_json: bool) -> None:
    """Let the daemon do nothing from now on: it watches, advises and diagnoses, and changes no job.

    Limits that it lowered are still given back. Works without a daemon too, for the next one.
    """
    from schedmate.service.usecases.pausing import pause

    carry_out(
        lambda client: client.pause(for_s), lambda store: pause(store, for_s), as_json=as_json
    )
