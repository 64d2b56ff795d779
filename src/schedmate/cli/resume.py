"""`schedmate resume`"""

from __future__ import annotations

from schedmate.cli._common import json_option, verb
from schedmate.cli._pausing import carry_out


@verb(examples="schedmate resume\nschedmate resume --json")
@json_option
def command(as_json: bool) -> None:
    """Let the daemon act again, as its mode allows.

    The queue is put in order; what else was decided during the pause is not done later.
    """
    from schedmate.service.usecases.pausing import resume

    carry_out(lambda client: client.resume(), resume, as_json=as_json)
