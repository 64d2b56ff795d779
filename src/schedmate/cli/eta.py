"""`schedmate eta`"""

from __future__ import annotations

import time

import click

from schedmate.cli._common import duration, echo, json_option, print_json, verb
from schedmate.cli._hosts import OnHost
from schedmate.cli._job_ids import complete_job_id
from schedmate.model.legible import legible


@verb(
    cls=OnHost,
    examples="""
schedmate eta 12
schedmate eta 12 --json
""",
)
@click.argument("job_id", metavar="ID", shell_complete=complete_job_id)
@json_option
def command(job_id: str, as_json: bool) -> None:
    """When a job ends, in one line; of an array one for each state."""
    from schedmate import config
    from schedmate.cli._site import sight_of
    from schedmate.service.views.sentences import eta_sentence

    sight = sight_of(config.load(), job_id)
    now, view = time.time(), sight.views[0]
    lines = sight.headed([eta_sentence(one, now, duration) for one in sight.views])
    if as_json:
        from schedmate.service.views.answers import EtaAnswer

        print_json(
            EtaAnswer(
                job_id=job_id,
                state=view.job.state,
                eta_s=view.remaining_s(now),
                predicted_s=view.predicted,
                answer="\n".join(lines),
                parts=sight.parts,
            )
        )
    else:
        for line in lines:
            echo(legible(line))
