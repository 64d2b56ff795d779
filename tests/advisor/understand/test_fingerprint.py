"""What identifies a job, where little of it is known."""

from __future__ import annotations

from contextlib import closing

from schedmate.advisor import Advisor, Target
from schedmate.store.sqlite import SqliteStore
from schedmate.testing.builders import a_job


def test_a_job_of_which_nothing_is_shown_is_no_error(tmp_path):
    """Another user's: neither its command nor its script."""
    job = a_job(command=(), script=None, workdir=str(tmp_path))
    with closing(SqliteStore(tmp_path / "store")) as store:
        advised = Advisor(store, store).advise(Target.from_job(job, None))
    assert advised.advice.prediction.basis == "none"


def test_files_that_cannot_be_read_are_not_one_code(tmp_path):
    """Of `python train.py` in two directories nothing is known to be the same."""
    codes = set()
    with closing(SqliteStore(tmp_path / "store")) as store:
        for name in ("one", "other", "one"):
            (tmp_path / name).mkdir(exist_ok=True)
            job = a_job(command=("python", "train.py"), script=None, workdir=str(tmp_path / name))
            codes.add(Advisor(store, store).advise(Target.from_job(job, None)).fingerprint.code)
    assert len(codes) == 2
