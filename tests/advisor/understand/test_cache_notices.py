"""What the cache has to notice besides edits, what it must survive, and that it stays bounded."""

import pytest

from schedmate.advisor import Advisor, Target
from schedmate.advisor.sources.files import Files
from schedmate.advisor.understand import cache
from schedmate.store import tables
from schedmate.store.sqlite import SqliteStore
from schedmate.testing.history import MemoryHistory


@pytest.fixture
def memory():
    return MemoryHistory()


@pytest.fixture
def job(tmp_path):
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "settings.py").write_text("EPOCHS = 3\n")
    (tmp_path / "train.py").write_text(
        "import os, yaml\nfrom settings import EPOCHS\n"
        "if os.path.exists('c.yaml'):\n    pass\n"
        "settings = yaml.safe_load(open('c.yaml'))\n"
        "optimizer = torch.optim.Adam(net.parameters(), lr=settings['lr'])\n"
        "for epoch in range(EPOCHS): fit()\n"
    )
    return tmp_path


def advise(memory, job):
    target = Target.from_command(job, ("python", "train.py"))
    return Advisor(memory, memory).advise(target).advice.workload


def test_a_module_that_appears_in_front_of_another(memory, job):
    assert advise(memory, job).epochs.value == 3
    (job / "settings.py").write_text("EPOCHS = 5\n")
    assert advise(memory, job).epochs.value == 5
    (job / "settings.py").unlink()
    (job / "settings").mkdir()
    (job / "settings" / "__init__.py").write_text("EPOCHS = 6\n")
    assert advise(memory, job).epochs.value == 6


def test_a_config_that_appears_and_goes(memory, job):
    assert advise(memory, job).learning_rate is None
    (job / "c.yaml").write_text("lr: 0.25\n")
    assert advise(memory, job).learning_rate.value == 0.25
    (job / "c.yaml").unlink()
    assert advise(memory, job).learning_rate is None


def test_what_a_run_leaves_behind_changes_nothing(memory, job, monkeypatch):
    first = advise(memory, job)
    for name in ("outputs", "logs", "wandb", "src/__pycache__"):
        (job / name).mkdir()
        (job / name / "x.yaml").write_text("lr: 1\n")
    (job / "slurm-1.out").write_text("epoch 1\n")
    monkeypatch.setattr(cache.Recollection, "keep", lambda *_: pytest.fail("read again"))
    assert advise(memory, job) == first


def test_what_an_older_reader_wrote_is_not_believed(memory, job, monkeypatch):
    monkeypatch.setattr(cache, "READER_VERSION", "0")
    advise(memory, job)
    old = dict(memory.readings)
    monkeypatch.undo()
    advise(memory, job)
    assert len(memory.readings) == 2 * len(old)


@pytest.mark.parametrize(
    "row",
    [
        *("", "{", "[]", "null", "17", '"x"', '["/etc/passwd"]', '{"files": 3, "names": {}}'),
        '{"files": ["/etc/passwd", "../../etc/passwd", "a\\u0000"], "names": {"/etc": ["shadow"]}}',
        '{"files": [], "names": {"..": ["*"], "\\u0000": ["\\u0000"]}}',
        '{"workload": {}}',
        "[" * 100_000,
    ],
    ids=range(12),
)
def test_odd_rows_do_no_harm(memory, job, row, monkeypatch):
    read = []
    honest = Files.read_bytes

    def noting(files, path, *, inside=()):
        data = honest(files, path, inside=inside)
        read.extend([path] if data is not None else [])
        return data

    monkeypatch.setattr(Files, "read_bytes", noting)
    first = advise(memory, job)
    memory.readings = dict.fromkeys(memory.readings, row)
    assert advise(memory, job) == first
    assert all(path.resolve().is_relative_to(job) for path in read)


def test_the_store_keeps_the_newest(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "_READINGS", 10)
    store = SqliteStore(tmp_path / "store.db")
    for number in range(50):
        store.cache_reading("often", "used")
        store.cache_reading(f"key {number}", "body")
    kept = [number for number in range(50) if store.cached_reading(f"key {number}") is not None]
    assert kept[-1] == 49
    assert len(kept) <= 10
    assert store.cached_reading("often") == "used"
    store.close()
