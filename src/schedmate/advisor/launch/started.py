"""What is known of a command before it is known what it starts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from schedmate.advisor.interpret.shell import Asked, Command, Word
from schedmate.advisor.launch.launchers import Launched, Peeled, log_words
from schedmate.advisor.launch.run import Entry, PythonRun
from schedmate.advisor.sources.files import SourceFile
from schedmate.model import Evidence

_NAMED = re.compile(r"[/.]\w{1,80}$", re.ASCII)
_REPEATING = frozenset(("xargs", "parallel"))
_RANK_BY_ARGUMENT = {
    "torch.distributed.launch": "use_env",
    "deepspeed": "no_local_rank",
    "deepspeed.launcher.runner": "no_local_rank",
}
"""Launchers that hand the rank on as an argument, and the option that keeps them from it."""
_RANK_OPTION = re.compile(r"""["'](--local[_-]rank)\b""")
_ASKING = frozenset(("sbatch", "srun", "salloc"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """`cwd` is relative to where the job starts; None where unknown."""

    launched: tuple[Launched, ...] = ()
    env: Mapping[str, Word] = field(default_factory=dict)
    cwd: str | None = "."
    conditional: bool = False
    logs: tuple[Word, ...] = ()
    stdin: SourceFile | None = None
    cap: Word | None = None
    asked: Asked = field(default_factory=lambda: Asked({}))
    nesting: int = 0
    here: tuple[Evidence, ...] = ()
    """The line that starts it."""

    varies: bool = False
    """Whether it runs several times, with other words each time."""
    values: Mapping[str, Word] = field(default_factory=dict)
    """Variables that stand for parts of the text to be run."""
    doubtful: frozenset[str] = frozenset()
    """Unknown parts of that text."""

    def running(self, command: Command) -> Started:
        """One command of a script that was itself started so."""
        return replace(
            self,
            values={},
            doubtful=frozenset(),
            env=command.env,
            cwd=command.cwd,
            conditional=self.conditional or command.conditional,
            logs=(*self.logs, *command.outputs),
            stdin=command.stdin,
            varies=self.varies or command.varies,
            here=command.words[0].evidence,
        )

    def inside(self, asked: Asked) -> Started:
        """In a script that this command runs; the submission's options beat its directives."""
        return replace(self, asked=asked | self.asked, nesting=self.nesting + 1, stdin=None)

    def with_env(self, own: Mapping[str, Word]) -> Started:
        return replace(self, env={**self.env, **own}) if own else self

    def under(self, peeled: Peeled) -> Started:
        launched = peeled.launched
        cap = peeled.own[0] if launched.name == "timeout" and peeled.own else self.cap
        asked = self.asked
        if launched.name in _ASKING and (launched.name == "sbatch" or not asked.options):
            asked = asked | Asked.of_words(launched.options)
        return replace(
            self.with_env(peeled.env),
            launched=(*self.launched, launched),
            logs=(*log_words(launched), *self.logs),
            cap=cap,
            asked=asked,
        )

    def run(
        self, entry: Entry, word: Word, arguments: Sequence[Word], cwd: Path | None
    ) -> PythonRun:
        return PythonRun(
            entry=entry,
            arguments=(*self._rank(entry, arguments), *arguments),
            command=word,
            launchers=tuple(each.name for each in self.launched),
            launched=self.launched,
            env=self.env,
            conditional=self.conditional,
            log_files=_files(self.logs),
            killed_after=self.cap,
            cwd=cwd,
            asked=self.asked,
            varies=self.varies
            or bool(_REPEATING.intersection(each.name for each in self.launched)),
        )

    def _rank(self, entry: Entry, arguments: Sequence[Word]) -> tuple[Word, ...]:
        """`--local_rank=0`, which some launchers put before a program's own arguments."""
        text = "" if entry.source is None else entry.source.text
        declared = _RANK_OPTION.search(text)
        given = any(_RANK_OPTION.match(f"'{word.text}") for word in arguments)
        if declared is None or given or not any(map(_hands_rank, self.launched)):
            return ()
        return (Word(f"{declared[1]}=0", self.here),)

    @staticmethod
    def with_logs(run: PythonRun, files: Sequence[Word]) -> PythonRun:
        return replace(run, log_files=tuple(dict.fromkeys((*run.log_files, *_files(files)))))


def _hands_rank(launched: Launched) -> bool:
    without = _RANK_BY_ARGUMENT.get(launched.name)
    return without is not None and without not in launched.options


def _files(words: Sequence[Word]) -> tuple[Word, ...]:
    """With the unknown variables as they stand: `$SCRATCH/run.log`."""
    return tuple(
        dict.fromkeys(
            word
            for word in words
            if (word.known or _NAMED.search(word.text))
            and not word.text.startswith(("/dev/", "&", ">("))
        )
    )
