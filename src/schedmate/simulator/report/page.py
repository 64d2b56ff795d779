"""One HTML file that needs nothing else: no network, and no script to be read."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from schedmate import __version__
from schedmate.model import BadInput
from schedmate.simulator.report.digest import Digest
from schedmate.simulator.report.sections import assumptions, sensitivity_section, trace_section
from schedmate.simulator.report.sensitivity import Sensitivity
from schedmate.simulator.report.words import text

_HERE = Path(__file__).parent
SEMI_SYNTHETIC = (
    "Semi-synthetic: no public trace has code in it, so each job was given a training project and "
    "a configuration that take as long as the job did. What SchedMate reads there is ours, not "
    "the users'; sizes, times, users and outcomes are the trace's."
)


def write_report(
    path: Path,
    digests: Sequence[Digest],
    *,
    command: str,
    sensitivity: Sequence[Sensitivity] = (),
    overlaid: bool = False,
) -> None:
    """Write the report of one or more traces; `command` is what makes it again."""
    page = report_html(digests, command=command, sensitivity=sensitivity, overlaid=overlaid)
    try:
        path.write_text(page, encoding="utf-8")
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise BadInput(f"cannot write the report to {path}: {why}; name another file") from error


def report_html(
    digests: Sequence[Digest],
    *,
    command: str,
    sensitivity: Sequence[Sensitivity] = (),
    overlaid: bool = False,
) -> str:
    style = (_HERE / "report.css").read_text(encoding="utf-8")
    script = (_HERE / "report.js").read_text(encoding="utf-8")
    policies = list(digests[0].compared.policies)
    warning = f'<p class="warning">{text(SEMI_SYNTHETIC)}</p>' if overlaid else ""
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_allowed(style, script)}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{text(_title(digests))}</title><style>{style}</style></head><body>"
        f"<h1>What a policy would do</h1>"
        '<p class="faint">A simulation of past jobs. Completion time is the time from submission '
        "to the end, waiting included; times better is against the first policy.</p>"
        f"{warning}{''.join(trace_section(each) for each in digests)}"
        f"{sensitivity_section(list(sensitivity), policies)}"
        f"<h2>What was assumed</h2>{''.join(assumptions(each) for each in digests)}"
        f"<h2>To make this again</h2><pre>{text(command)}</pre>"
        f'<p class="faint">SchedMate {text(__version__)}</p>'
        f"<script>{script}</script></body></html>\n"
    )


def _title(digests: Sequence[Digest]) -> str:
    return ", ".join(each.compared.trace for each in digests) + " · SchedMate"


def _allowed(style: str, script: str) -> str:
    """A browser takes our style and our script and nothing else, whatever a trace brings along."""
    return f"default-src 'none'; style-src {_fingerprint(style)}; script-src {_fingerprint(script)}"


def _fingerprint(content: str) -> str:
    return f"'sha256-{b64encode(sha256(content.encode()).digest()).decode()}'"
