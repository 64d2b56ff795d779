from __future__ import annotations

from pathlib import Path

from schedmate.advisor.frameworks.runtime import RUNTIME
from schedmate.advisor.interpret.python.interpretation import Interpretation, interpret
from schedmate.advisor.interpret.python.values import Call, Sequence, Table, Value
from schedmate.advisor.interpret.shell import Word, command_words
from schedmate.advisor.launch.run import Entry, PythonRun
from schedmate.advisor.options.configs import read
from schedmate.advisor.sources.files import Files


class Job:
    """Files in a directory, interpreted from `train.py`."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.entry = "train.py"

    def write(self, **files: str) -> Job:
        for name, text in files.items():
            path = self.directory / (name.replace("__", "/") + ".py")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return self

    def put(self, name: str, text: str) -> Job:
        path = self.directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return self

    def interpret(
        self, code: str = "", *arguments: str, env: dict[str, str] | None = None, **options
    ) -> Interpretation:
        if code:
            self.put(self.entry, code)
        files = Files(self.directory, "root")
        words = command_words(["python", self.entry, *arguments])
        path = self.directory / self.entry
        run = PythonRun(
            entry=Entry(
                name=self.entry,
                source=files.read(path),
                import_root=path.parent,
                function=options.pop("function", None),
            ),
            arguments=words[2:],
            command=words[1],
            env={name: Word(text, ()) for name, text in (env or {}).items()},
            launchers=options.pop("launchers", ()),
        )
        return interpret(run, files, libraries=RUNTIME, read_config=read, **options)

    def value(self, code: str, name: str, *arguments: str, **options) -> Value:
        return last(self.interpret(code, *arguments, **options), name)


def last(interpreted: Interpretation, name: str) -> Value:
    """What a name was last bound to."""
    return [each.value for each in interpreted.trace.bindings if each.name == name][-1]


def plain(value: Value):
    """A value as Python has it; `...` for an unknown value."""
    if not value.known:
        return ...
    if isinstance(value.data, Sequence):
        return [plain(item) for item in value.data.items] + ([] if value.data.complete else [...])
    if isinstance(value.data, Table):
        return {name: plain(part) for name, part in value.data.parts.items()}
    return value.data


def calls_of(interpreted: Interpretation, callee: str) -> list[Call]:
    return [call for call in interpreted.trace.calls if call.callee == callee]
