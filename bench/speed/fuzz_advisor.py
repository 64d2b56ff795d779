"""Hostile and random jobs through the advisor: no exception, no slow one, always valid JSON.

    python -m bench.speed.fuzz_advisor                          # three minutes
    python -m bench.speed.fuzz_advisor --seed 2 --keep found    # keep what fails or is slow

A job is a real one with bytes, lines, names and files changed (a labelled one, one of the tests'
projects or of the directories named), or made of random script, code and config. Seconds are of the
processor.
"""

from __future__ import annotations

import getpass
import heapq
import json
import random
import shutil
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path

from bench.command import command_line
from bench.corpora.advice_cases import OWN, read_cases
from bench.datasets import ROOT
from schedmate.advisor import Advisor, Target
from schedmate.model.wire import dumps
from schedmate.testing.history import MemoryHistory

_PROJECTS = ROOT / "tests" / "advisor" / "projects"
_TEXT = (".py", ".sh", ".slurm", ".sbatch", ".yaml", ".yml", ".json", ".toml", ".cfg", ".ini")
_MOST_FILES = 300
_SHOWN = 8
_SHELL = """\
for i in $(seq 1 5); do|done|if [ -f x ]; then|else|fi|case $1 in|a) python train.py;;|esac
while read line; do|export A=${B:-3}|A=$((A*2))|B="$A $B"|cat > c.yaml <<EOF|EOF|f() {|}
srun python train.py --epochs $A|torchrun --nproc_per_node=4 train.py|bash -c "python train.py"
#SBATCH --gres=gpu:4|source env.sh|cd ..|cd "$(dirname $0)"|python - <<'E'|E|eval "$A"|A=(1 2 3)
python -m pkg.train ${A[@]}|${A%%.*}|${A//x/y}|$(cat c.yaml)|`date`|[[ $A =~ x ]] && python a.py
""".replace("\n", "|").split("|")
_CODE = """\
import argparse, os, torch, yaml, json, hydra|from c import *
class A(B, metaclass=M):|def f(*a, **k):
    return f(*a, **k)|    yield from f()|x = [y for y in x for x in y]
lambda: (yield)|x = x if x else x
parser = argparse.ArgumentParser()|parser.add_argument('--epochs', type=int, default=x)
args = parser.parse_args()|for e in range(args.epochs):|    optimizer.step()|while x < y: x += 1
cfg = yaml.safe_load(open(args.config))|with open('c.yaml') as f: x = yaml.load(f)
exec(open('c.py').read())
loader = torch.utils.data.DataLoader(d, batch_size=cfg['b'] * x)|x: int = 3
match x:|    case [a, *b]: pass
try:|    x()|except Exception as x: pass|finally: pass|del x|global x
nonlocal y|async def g(): await x
@hydra.main(config_path='.', config_name='c')|@x.y(z)|@dataclass|x, *y = 1, 2
x[y:z] = x|f'{x!r:>{y}}'
setattr(x, 'y', z)|getattr(x, y)(z)|x.__dict__.update(y)|globals()[x] = y
super().__init__(x)|x **= x
import sys; sys.path.insert(0, x)|__import__(x)|type(x)(y)|x = x.replace(x, x) * 9|1 << x << x|pass
""".replace("\n", "|").split("|")
_CONFIG = """\
lr: 0.1|a: &a [1, 2]|b: *a|<<: *a|defaults: [a, b]|  - c: d|? x|: y|- - - x
x: !!python/name:os.system
"{"|[a]|{"a": [1, {"b": null}]}|x = 1|[tool.x]|x: ${y}|y: ${oc.env:HOME}|x: |-
_target_: a.b|"\\ud800"
epochs: 1e9999|n: 0x|n: 1_0|d: 2020-13-45|%YAML 9|--- !x|...|<<<<<<< HEAD
_base_: [c.yaml, ./c.yaml]
""".replace("\n", "|").split("|")


class Fuzz:
    def __init__(self, seed: int, limit_s: float, keep: Path | None) -> None:
        self.rng = random.Random(seed)
        self.limit_s = limit_s
        self.keep = keep
        self.jobs = 0
        self.failures: Counter[str] = Counter()
        self.slow: list[tuple[float, str]] = []

    def one(self, project: Path | None, command: tuple[str, ...], script: str | None) -> None:
        with tempfile.TemporaryDirectory() as scratch:
            job = Path(scratch) / "job"
            if project is None:
                command, script = self._made(job)
            else:
                shutil.copytree(project, job, symlinks=True)
                self._damage(job)
            self._try(job, command, script, "made" if project is None else str(project))

    def _try(self, job: Path, command: tuple[str, ...], script: str | None, name: str) -> None:
        self.jobs += 1
        started = time.thread_time()
        try:
            memory = MemoryHistory()
            text = _text_of(job / script) if script is not None else None
            target = Target(
                workdir=job,
                command=command,
                script_text=text,
                script_name=script,
                args=command[1:] if script else (),
                user=getpass.getuser(),
                name="x",
            )
            for _ in range(2):
                json.loads(dumps(Advisor(memory, memory).advise(target).advice))
        except Exception:  # noqa: BLE001 - that is what we are looking for
            self.failures[traceback.format_exc()[-1500:]] += 1
            self._keep(job, f"failure{self.jobs}")
        spent = time.thread_time() - started
        if spent > self.limit_s:
            self._keep(job, f"slow{self.jobs}")
        self.slow = heapq.nlargest(
            _SHOWN, [*self.slow, (spent, f"{name} {' '.join(command)[:60]}")]
        )

    def _keep(self, job: Path, name: str) -> None:
        if self.keep is not None and not (self.keep / name).exists():
            shutil.copytree(job, self.keep / name, symlinks=True)

    def _made(self, job: Path) -> tuple[tuple[str, ...], str | None]:
        job.mkdir()
        for name, words in (("train.py", _CODE), ("c.py", _CODE), ("job.sh", _SHELL),
                            ("c.yaml", _CONFIG), ("env.sh", _SHELL)):  # fmt: skip
            lines = self.rng.choices(words, k=self.rng.randint(0, 60))
            indented = (" " * self.rng.choice((0, 0, 0, 4)) + line for line in lines)
            (job / name).write_text(
                "\n".join(indented) + "\npython train.py\n" * (name == "job.sh")
            )
            self._repair(job / name)
        if self.rng.randrange(2):
            return ("job.sh",), "job.sh"
        return ("python", "train.py", "--config", "c.yaml", "--epochs", "3"), None

    def _repair(self, file: Path) -> None:
        """Without the lines that are no Python, most often, so that there is something to read."""
        if file.suffix != ".py" or self.rng.randrange(10) == 0:
            return
        lines = file.read_text().split("\n")
        for _ in range(len(lines)):
            try:
                compile("\n".join(lines), "x", "exec", dont_inherit=True)
            except SyntaxError as error:
                del lines[min((error.lineno or 1), len(lines)) - 1]
            except ValueError:
                break
            else:
                break
        file.write_text("\n".join(lines))

    def _damage(self, job: Path) -> None:
        files = [path for path in job.rglob("*") if path.suffix in _TEXT and path.is_file()]
        for file in self.rng.sample(files, min(len(files), self.rng.randint(1, 4))):
            data = file.read_bytes()
            for _ in range(self.rng.randint(1, 6)):
                data = self._changed(data, files)
            file.write_bytes(data)
        if files and self.rng.randrange(10) == 0:
            victim = self.rng.choice(files)
            victim.unlink()
            self.rng.choice((victim.mkdir, lambda: victim.symlink_to(victim.name)))()

    def _changed(self, data: bytes, files: list[Path]) -> bytes:
        lines = data.split(b"\n")
        at = self.rng.randrange(len(lines))
        other = self.rng.randrange(len(lines))
        match self.rng.randrange(9):
            case 0:
                del lines[at]
            case 1:
                lines[at], lines[other] = lines[other], lines[at]
            case 2:
                lines[at] = lines[at] * self.rng.choice((2, 3, 1000))
            case 3:
                position = self.rng.randrange(len(data) + 1)
                return data[:position] + self.rng.randbytes(3) + data[position:]
            case 4:
                return data[: self.rng.randrange(len(data) + 1)]
            case 5:
                source = self.rng.choice(files)
                taken = source.read_bytes().split(b"\n") if source.is_file() else [b""]
                lines[at:at] = self.rng.choices(taken, k=5)
            case 6:
                words = lines[at].split()
                self.rng.shuffle(words)
                indent = len(lines[at]) - len(lines[at].lstrip())
                lines[at] = b" " * indent + b" ".join(words)
            case 7:
                lines.insert(at, self.rng.choice((*_CODE, *_SHELL, *_CONFIG)).encode())
            case _:
                names = [word for word in data.split() if word.isalnum()] or [b"x"]
                one, two = self.rng.choice(names), self.rng.choice(names)
                return data.replace(one, two)[:900_000]
        return b"\n".join(lines)


def _text_of(file: Path) -> str:
    return file.read_text(errors="replace") if file.is_file() else ""


def _jobs(directories: list[Path]) -> list[tuple[Path, tuple[str, ...], str | None]]:
    found: list[tuple[Path, tuple[str, ...], str | None]] = []
    for case in read_cases(OWN):
        label = case.label
        command = (label.script, *label.args) if label.script else label.command
        found.append((case.files, command, label.script))
    found += [(path, ("python", "train.py"), None) for path in sorted(_PROJECTS.iterdir())]
    for directory in directories:
        entries = [path for path in sorted(directory.rglob("*")) if path.is_file()]
        names = [str(path.relative_to(directory)) for path in entries]
        if len(entries) <= _MOST_FILES:
            found += [(directory, (name,), name) for name in names if name.endswith(".sh")][:3]
            found += [(directory, ("python", n), None) for n in names if n.endswith("train.py")][:2]
    return [job for job in found if job[0].is_dir()]


def main() -> None:
    parser = command_line(__doc__, __spec__)
    parser.add_argument("dirs", nargs="*", type=Path)
    parser.add_argument("--minutes", type=float, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit-s", type=float, default=3)
    parser.add_argument("--keep", type=Path, help="where jobs that fail or are slow are left")
    arguments = parser.parse_args()
    fuzz = Fuzz(arguments.seed, arguments.limit_s, arguments.keep)
    jobs = _jobs(arguments.dirs)
    until = time.monotonic() + 60 * arguments.minutes
    while time.monotonic() < until:
        made = fuzz.rng.randrange(2) == 0
        project, command, script = fuzz.rng.choice(jobs)
        fuzz.one(None if made else project, command, script)
    for failure, times in fuzz.failures.most_common(_SHOWN):
        print(f"{times} times:\n{failure}")
    for spent, name in fuzz.slow:
        print(f"{spent:.2f} s  {name}")
    slow = sum(spent > fuzz.limit_s for spent, _ in fuzz.slow)
    print(f"{fuzz.jobs} jobs, {sum(fuzz.failures.values())} failures, {slow} slow")
    sys.exit(bool(fuzz.failures or slow))


if __name__ == "__main__":
    main()
