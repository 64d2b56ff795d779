"""The parts of the reference that the code itself knows.

    python tests/docs/generate.py

writes them into docs/reference; the tests fail where they are not what this would write.
"""

from __future__ import annotations

import json
import re
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import get_type_hints

from schedmate.advisor.frameworks.index import SIGNS
from schedmate.advisor.launch.launchers.environments import ENVIRONMENTS
from schedmate.advisor.launch.launchers.python_starters import PYTHON_MODULES, PYTHON_STARTERS
from schedmate.advisor.launch.launchers.schedulers import SCHEDULERS
from schedmate.advisor.launch.launchers.wrappers import WRAPPERS as AROUND
from schedmate.advisor.options import MODELS, WRAPPERS
from schedmate.cli import VERBS
from schedmate.config import Settings
from schedmate.handler.states import VERDICTS
from schedmate.handler.states import WORDS as STATES
from schedmate.handler.suggestions import meaning
from schedmate.model import REASONS, Advice, Diagnosis, Progress
from schedmate.model.wire import json_schema

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
SCHEMAS = {"advice": Advice, "progress": Progress, "diagnosis": Diagnosis}
PLACES = {"state_dir": "`~/.local/state/schedmate`", "cache_dir": "`~/.cache/schedmate`"}
"""Defaults that depend on who looks."""

WORDS = {
    "scheduler": "where jobs run: `local` or `slurm`",
    "mode": "`observe` only records what it would do, `assist` also sets priorities and "
    "limits, `act` also requeues and holds jobs",
    "policy": "the order of waiting jobs: `ssf`, `sjf` or `fifo`",
    "nice_range": "the largest nice number a job is given; unset: by the "
    "[scheduler's own weights](../how-to/slurm.md#who-goes-first)",
    "nice_at_submission": "what the [submit hook](../how-to/submit-hook.md#a-new-job-does-not-"
    "stand-first) adds to the nice number of every new job, until the daemon has ordered it",
    "nice_hours": "the most that a job is set back, in hours of waiting: the same place in the "
    "queue at every site, whatever its weights",
    "actions_an_hour": "how many jobs are requeued or held and nodes drained in an hour at most; "
    "further requeues wait",
    "retries": "retries of a job in a row without progress",
    "retries_in_all": "retries of a job in total",
    "longest_wait_s": "the longest wait of a retry that waits for something, in seconds; a random "
    "delay of up to half of it is added",
    "settle_s": "how many seconds after a failure [its owner may submit the job again]"
    "(../how-to/retries.md) before it is retried; unset: 60 beside Slurm, 0 in the local queue",
    "hang.minutes": "minutes without output after which a running job may count as hung; `inf`: "
    "never",
    "hang.partitions": "the same by partition, by its name",
    "hang.requeue": "queue jobs that seem to hang again, although some of them only wait",
    "hold.certain": "in mode `act`: hold a waiting job whose files show that it cannot succeed",
    "hold.after_failures": "in mode `act`: hold a waiting job whose same code has failed so often "
    "in a row with the same exit code; `0`: never",
    "fairness.late_hours": "how late a job may become by jobs that its scheduler alone puts behind "
    "it; see [fair by construction](../how-to/slurm.md#fair-by-construction)",
    "fairness.hours": "it is overtaken for so many hours at least, or",
    "fairness.times": "for so many times its own predicted run time, the longer of both",
    "scope.canary_partitions": "order, requeue and hold jobs of these partitions only; empty: of "
    "all",
    "scope.exclude_users": "users whose jobs are left alone",
    "scope.exclude_partitions": "partitions whose jobs are left alone",
    "scope.exclude_accounts": "accounts whose jobs are left alone",
    "scope.exclude_qos": "QOS whose jobs are left alone",
    "drain.allowed": "in mode `act`, by an account with administrator rights: drain "
    "[suspect nodes](../how-to/retries.md#find-the-nodes-that-fail-other-peoples-jobs)",
    "drain.probability": "from which probability on",
    "drain.most_out": "never when more than this share of all nodes would be out",
    "preemption.partitions": "in mode `act`: runs in these partitions "
    "[make way](../how-to/make-way.md) for shorter jobs right after a checkpoint, if they are "
    "proven to resume; others only where their owner asks for it",
    "preemption.qos": "the same by QOS",
    "preemption.at_most": "how often one job is stopped for others; `0`: never",
    "preemption.after_minutes": "a run is not stopped before it has run for so long",
    "preemption.ends_soon_minutes": "nor with less than that left to it",
    "preemption.lost_gpu_hours": "what such restarts may cost one user in a day",
    "preemption.give_back_minutes": "where the jobs that it made way for have not started by then, "
    "it goes first",
    "preemption.widest": "the share of its partition's GPUs that a run may hold; a larger one is "
    "not stopped",
    "preemption.worth": "so many times less GPU time than the run a job must need",
    "sharing.partitions": "in mode `act`: waiting jobs in these partitions [share a GPU]"
    "(../how-to/share-a-gpu.md) with another one where runs of their code were measured to leave "
    "most of it idle; others only where their owner asks for it",
    "sharing.qos": "the same by QOS",
    "sharing.memory": "the share of a GPU's memory that runs of the same code needed at most",
    "sharing.utilization": "the share of the time in which they used it at most",
    "sharing.least_pace": "of its pace alone: two that share a GPU are parted below it",
    "sharing.begin_anew_minutes": "for so long after its start the younger of the two is queued "
    "again at once and begins anew; `0`: only at a checkpoint from which it is proven to go on",
    "sharing.shards_at_submission": "what the [submit hook](../how-to/submit-hook.md) lets such "
    "jobs ask for in place of one GPU: the number of parts in which Slurm lends it; `0`: what they "
    "ask for stays",
    "sharing.gpu_memory_gb": "memory of a GPU that is shared; unset: by the name of its type",
    "doomed.stop": "in mode `act`: stop [runs that go on for nothing](../how-to/doomed-runs.md) "
    "for these reasons: `nan`, `checkpoint`, `hang`, `limit`, `idle`; empty: only "
    "where their owner asks for it",
    "doomed.minutes": "how long after the message, if the same sign still stands",
    "doomed.idle_hours": "hours without use of a GPU, CPU or output, after which an allocation is "
    "idle",
    "log_format": "of the daemon's own log: `text`, or `json`, one object a line",
    "operators": "users who see all of every user's jobs; read from the site's file only",
    "time_limits.lower": "lower the limits of waiting jobs towards their prediction, for backfill; "
    "the user's own limit is restored in time",
    "time_limits.soft": "where Slurm runs with `time_min_as_soft_limit`: give backfill the "
    "prediction to plan with, and leave limits as they are; "
    "[made waiting longer in simulations](../how-to/slurm.md#lowered-time-limits)",
    "time_limits.extend_hours": "by how much the limit of a running job that "
    "[resumes](../how-to/doomed-runs.md#more-time-for-a-run-that-resumes) and would not make it is "
    "raised at most, where no other job waits for its GPUs; `0`: never",
    "time_limits.carry_on": "how often such a job is queued again right after its last checkpoint "
    "before the limit; `0`: never",
    "gpus": "what your own names of GPUs (types of gres) are; [see below](#names-of-gpus)",
    "state_dir": "queue, history, locks; on a local disk",
    "store_url": "a [PostgreSQL database](../how-to/postgres.md) in place of the file in the state "
    "directory",
    "cache_dir": "the embedded model's file and server",
    "local.slots": "how many GPUs the local scheduler hands out at most, the first ones; on a "
    "machine without GPUs how many jobs run at once; unset: all GPUs, else one job a core",
    "local.gpus": "which GPUs the local scheduler hands out: numbers, ranges (`0-3`), UUIDs, with "
    "a type of your own behind a colon (`4:h100`), or `none`; jobs see no others; unset: "
    "all that `nvidia-smi` or `rocm-smi` lists",
    "local.lock_dir": "where the accounts of a machine lock the GPUs that their jobs have; unset: "
    "`/run/lock`, or another directory that is root's and open to all",
    "local.kill_wait_s": "seconds between SIGTERM and SIGKILL",
    "local.keep_days": "how long the script and the environment of an ended job are kept, so that "
    "it can be queued again; its output stays",
    "local.keep_megabytes": "how large all of that may become; beyond it the oldest go earlier",
    "local.poll_s": "seconds between two cycles of the local scheduler",
    "submit.advice": (
        "whether [`submit`](../how-to/submit-hook.md) prints advice: `always`, `never`, or `auto`: "
        "on Slurm only to a terminal"
    ),
    "hook.socket": (
        "where sbatch's [hook](../how-to/submit-hook.md) asks the daemon; unset: `advice.sock` in "
        "the state directory"
    ),
    "local.shared": "`true`: jobs go to [the queue of all accounts](../how-to/lab.md) of this "
    "machine, `false`: to one's own; unset: to the shared one where it is served",
    "slurm.rest_url": "where slurmrestd listens, `https://host:6820` or "
    "`unix:///run/slurmrestd.sock`; empty: Slurm's commands alone; see "
    "[slurmrestd](../how-to/slurm.md#through-slurmrestd)",
    "slurm.rest_token_file": "the file with slurmrestd's token, read again when it changes; unset: "
    "this account's own, by `scontrol token`",
    "slurm.poll_s": "seconds between two queries to Slurm",
    "slurm.cluster": "another cluster than this machine's own, by its name in the accounting",
    "slurm.timeout_s": "how long one Slurm command may take",
    "slurm.history_days": "how many days back accounting is queried for ended jobs",
    "slurm.updates_a_minute": (
        "how many nice numbers are set in a minute; at most half of them at once"
    ),
    "slurm.scripts_a_look": (
        "how many scripts are asked for in one look; the rest follows in later looks"
    ),
    "files_socket": "where the [service that reads users' files](../how-to/production.md) listens; "
    "asked where this account may",
    "queue_socket": "where root serves [the queue of all accounts](../how-to/lab.md)",
    "retention.days": "how many days events, decisions and what was found out about ended jobs are "
    "kept; past runs stay, in short form",
    "retention.megabytes": "how large the store may become; beyond that the oldest go earlier",
    "llm.base_url": "an OpenAI-compatible `…/v1`; unset: the embedded model, where installed",
    "llm.model": "the model's name at that endpoint",
    "llm.api_key": "its key, from the environment",
    "llm.api_key_file": "a file with its key",
    "llm.enabled": "`false`: no model is ever asked",
    "llm.advice": "ask it about a job's code too, where reading leaves something open",
    "llm.tier": (
        "how much a model is asked: `none`, `choose` (among what is listed), `read` (for itself); "
        "`auto`: by its exam, and `choose` without one"
    ),
    "llm.never": "users, and directories by their absolute path, about whose jobs none is asked",
    "llm.read_deadline_s": "the same for a model that reads, where it is longer",
    "llm.read_token_budget": "the same where the model reads",
    "llm.deadline_s": "seconds for one question, with repairs and the start of the model",
    "llm.background_deadline_s": (
        "the same for questions that the daemon asks beside its loop, where no one waits"
    ),
    "llm.token_budget": "tokens this installation may spend in a day",
    "llm.repair_turns": "how often the model may repair an invalid answer",
    "llm.threads": "threads of the embedded model",
    "web.host": "where `serve --port` listens; beyond loopback only where "
    "[users can sign in](../how-to/share.md)",
    "web.socket": "a unix socket on which users of this machine ask the daemon; unset: none",
    "web.names": "by which host names it is called, beside those of loopback",
    "web.certificate": "for https: the certificate's file, in PEM",
    "web.key": "and its key's",
    "web.proxy_header": "the header in which a trusted proxy names the user, such as "
    "`X-Remote-User`; empty: none is trusted",
    "web.proxies": "addresses of trusted proxies on other machines",
    "web.proxy_accounts": "accounts that trusted proxies run under on this machine",
    "web.requests_a_second": "how many requests of one user are answered; ten times as "
    "many at once",
    "notify.wait_s": "how long a [notification](../how-to/notify.md) waits for others to the same "
    "user, to be sent as one",
    "notify.messages_an_hour": "how many messages a user gets in an hour; what is more waits and "
    "is sent together",
    "notify.link": "the address of the pages, for links in messages",
    "mail.host": "the mail server; empty: no mail is sent",
    "mail.port": "its port",
    "mail.security": "`none`, `starttls` or `tls`",
    "mail.user": "the login at it; empty: none",
    "mail.password": "its password, from the environment",
    "mail.password_file": "a file with it",
    "mail.sender": "from whom mail comes",
    "mail.domain": "behind a user's name, where the user has named no address",
    "hosts": "[other machines with a queue of their own](../how-to/one-box.md#a-second-box), by "
    "name: `address`, `program`",
    "webhooks": "[channels by name](../how-to/notify.md#channels): `url`, `kind` (`json` or "
    "`slack`), `private`",
    "server": "[the site's daemon](../how-to/share.md#on-login-nodes), which `jobs`, `job`, `why`, "
    "`eta` and `history` ask first: `unix:/path` or a URL",
    "token": "what that daemon knows you by, from the environment",
    "token_file": "a file with it",
    "llm.idle_s": "idle seconds after which the embedded model's server ends",
}
"""What each setting means."""


def settings() -> dict[str, str]:
    """Every setting by its name in a file, with its default as it is written there."""
    return dict(_walk(Settings, ""))


def _walk(section: type, prefix: str) -> list[tuple[str, str]]:
    found, kinds, default = [], get_type_hints(section), section()
    for name in (one.name for one in fields(section)):
        value = getattr(default, name)
        if is_dataclass(kinds[name]):
            found += _walk(kinds[name], f"{prefix}{name}.")
        elif name in PLACES:
            found.append((name, PLACES[name]))
        else:
            plain = json.dumps(value, default=str).strip('"')
            found.append((prefix + name, "" if value is None else f"`{plain}`"))
    return found


def settings_table() -> str:
    rows = ["| variable | in a file | default | what |", "|---|---|---|---|"]
    for name, default in settings().items():
        variable = f"SCHEDMATE_{name.upper().replace('.', '__')}"
        rows.append(f"| `{variable}` | `{name}` | {default} | {WORDS[name]} |")
    return "\n".join(rows)


def failures_table() -> str:
    rows = ["| reason | category | retry | what it means |", "|---|---|---|---|"]
    rows += [
        f"| `{reason.id}` | {reason.category} | {reason.retry} | {meaning(reason.id)} |"
        for reason in REASONS.values()
    ]
    return "\n".join(rows)


def verbs_table() -> str:
    rows = ["| verb | what it does |", "|---|---|"]
    rows += [f"| `{name}` | {words} |" for name, words in VERBS.items()]
    return "\n".join(rows)


def states_table() -> str:
    """Every word by what it means: a state of ours, or at once a reason."""
    rows = ["| it means | words of schedulers |", "|---|---|"]
    for meant in dict.fromkeys([*STATES.values(), *VERDICTS.values()]):
        words = sorted(word for word, one in (STATES | VERDICTS).items() if one == meant)
        rows.append(f"| `{meant}` | {' '.join(words)} |")
    return "\n".join(rows)


def understood_table() -> str:
    """What the advisor knows by name."""
    known = {
        "schedulers' commands, MPI": SCHEDULERS,
        "what starts Python": PYTHON_STARTERS,
        "the same by `python -m`": PYTHON_MODULES,
        "environments, containers, other machines": ENVIRONMENTS,
        "wrappers": AROUND,
        "packages that options are declared or loaded with": {
            name.partition(".")[0] for name in (*MODELS, *WRAPPERS)
        },
        "frameworks whose settings are read": {signs.name for signs in SIGNS if signs.module},
    }
    rows = ["| kind | known |", "|---|---|"]
    rows += [
        f"| {kind} | {' '.join(f'`{n}`' for n in sorted(names))} |" for kind, names in known.items()
    ]
    return "\n".join(rows)


TABLES = {
    REFERENCE / "understood.md": understood_table,
    REFERENCE / "settings.md": settings_table,
    REFERENCE / "failures.md": failures_table,
    REFERENCE / "states.md": states_table,
    REFERENCE / "verbs.md": verbs_table,
}


def with_table(page: str, table: str) -> str:
    """The page with its one table between the marks replaced."""
    marked = re.compile(r"(<!-- generated -->\n).*(<!-- end -->)", re.DOTALL)
    return marked.sub(lambda found: f"{found[1]}{table}\n{found[2]}", page)


def schema_text(name: str) -> str:
    return json.dumps(json_schema(SCHEMAS[name]), indent=1, sort_keys=True) + "\n"


def main() -> None:
    for path, table in TABLES.items():
        path.write_text(with_table(path.read_text("utf-8"), table()), "utf-8")
    for name in SCHEMAS:
        (REFERENCE / "schemas" / f"{name}.json").write_text(schema_text(name), "utf-8")


if __name__ == "__main__":
    main()
