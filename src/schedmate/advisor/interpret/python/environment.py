"""Variables of the environment, and `sys.argv`, as the script sets them."""

from __future__ import annotations

from collections.abc import Callable

from schedmate.advisor.interpret.python.values import UNKNOWN, Sequence, Table, Value
from schedmate.advisor.interpret.shell import Word
from schedmate.advisor.launch.launchers import MPI, SPAWNERS
from schedmate.advisor.launch.processes import Count, Processes, processes
from schedmate.advisor.launch.run import PythonRun
from schedmate.model import Source

_RANKS = ("RANK", "LOCAL_RANK", "GROUP_RANK")
_UNKNOWN = ("MASTER_ADDR", "MASTER_PORT")
_SLURM = ("SLURM_PROCID", "SLURM_LOCALID", "SLURM_NODEID")
_SLURM_JOB = ("SLURM_JOB_ID", "SLURM_JOBID", "SLURM_JOB_NODELIST", "SLURM_NODELIST")
_MPI = ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "PMI_RANK")


def environ(run: PythonRun, started: Processes) -> Value:
    """`os.environ`: a launcher sets ranks, and we interpret rank 0."""
    parts = {name: of_word(word, "script") for name, word in run.env.items()}
    parts = _scheduled(run, started) | parts
    if SPAWNERS.intersection(run.launchers):
        parts = {
            **dict.fromkeys(_RANKS, Value("0")),
            **dict.fromkeys(_UNKNOWN, UNKNOWN),
            "WORLD_SIZE": _text(started.total),
            "LOCAL_WORLD_SIZE": _text(started.per_node),
        } | parts
    elif MPI.intersection(run.launchers):
        sizes = dict.fromkeys(("OMPI_COMM_WORLD_SIZE", "PMI_SIZE"), _text(started.total))
        parts = {**dict.fromkeys(_MPI, Value("0")), **sizes} | parts
    return Value(Table(parts, "environ", complete=False))


def started_by(run: PythonRun, read_config: Callable[[str], Value | None]) -> Processes:
    def setting(file: str, name: str) -> Count | None:
        config = read_config(file)
        table = None if config is None else config.data
        found = table.parts.get(name) if isinstance(table, Table) else None
        if found is None or type(found.data) is not int or found.data < 1:
            return None
        return Count(found.data, found.lines)

    return processes(run, setting)


def _scheduled(run: PythonRun, started: Processes) -> dict[str, Value]:
    """Slurm tells a job what it asked for; `srun` beside that which of the tasks it is."""
    of_slurm = any("#SBATCH" in line.text for _, line in run.asked.options.values())
    under_srun = any(name.endswith("srun") for name in run.launchers)
    if not (of_slurm or under_srun):
        return {}
    variables = dict.fromkeys(_SLURM_JOB, UNKNOWN)
    variables |= {name: of_word(word, "derived") for name, word in run.asked.variables().items()}
    if run.launchers and run.launchers[-1].endswith("srun") and started.total is not None:
        variables |= dict.fromkeys(("SLURM_NTASKS", "SLURM_NPROCS"), _text(started.total))
    return variables | (dict.fromkeys(_SLURM, Value("0")) if under_srun else {})


def _text(count: Count | None) -> Value:
    return UNKNOWN if count is None else Value(str(count.number), count.lines, "derived")


def argv(run: PythonRun) -> Value:
    words = [of_word(word, "cli") for word in run.arguments]
    return Value(Sequence([Value(run.entry.name), *words]), source="cli")


def of_word(word: Word, source: Source) -> Value:
    return Value(word.text, word.evidence, source) if word.known else UNKNOWN
