"""The bank's projects are such as the advisor reads, and take the time they say."""

from __future__ import annotations

import numpy as np
import pytest

from schedmate.model import Request
from schedmate.simulator.estimators.reading import read_job
from schedmate.simulator.synthetic import SyntheticSubmission, bank

each_project = pytest.mark.parametrize("project", bank(), ids=lambda project: project.name)


def work_of(project, *, length, batch, rate):
    one = np.array([float(length)])
    return SyntheticSubmission(
        project=np.array([bank().index(project)]),
        copy=np.array([0]),
        version=np.array([0]),
        length=one,
        batch=np.array([float(batch)]),
        rate=np.array([rate]),
        read_length=one,
    )


def test_there_are_enough_to_choose_from():
    assert len(bank()) >= 40
    assert len({project.name for project in bank()}) == len(bank())


@each_project
def test_what_users_vary_is_read_from_the_command_line(project):
    batch, rate = 3 * (project.batch or 1), float(f"{2 * project.rate:g}")
    work = work_of(project, length=2 * project.length, batch=batch, rate=rate)

    record, prints = read_job(work, 0, Request(gpus=project.gpus[0]))

    length = record.epochs if project.unit == "epochs" else record.max_steps
    assert length is not None
    assert length.value == 2 * project.length
    assert record.learning_rate is not None
    assert record.learning_rate.value == pytest.approx(rate)
    if project.batch:
        assert record.batch_size is not None
        assert record.batch_size.value == batch
    assert record.model or record.dataset
    assert not record.early_stopping
    assert prints is not None


@each_project
def test_it_says_where_its_times_come_from(project):
    assert project.origin
    assert set(project.measured) <= {"step_s", "batch_exponent", "gpu_exponent"}
    assert project.measured or project.origin.startswith("assumed")


@each_project
def test_it_is_short_enough_to_read(project):
    assert all(len(text.splitlines()) <= 60 for text in project.files.values())


@each_project
def test_more_gpus_finish_an_epoch_sooner_and_never_a_step(project):
    one, four = project.unit_s(project.batch or 1, 1), project.unit_s(project.batch or 1, 4)
    if project.gpu_exponent == 0:
        assert four == one
    elif project.unit == "epochs":
        assert four < one
    else:
        assert four >= one


def test_an_edit_is_other_code_of_the_same_project():
    project = bank()[0]

    texts = [project.files_of(copy, version) for copy, version in ((0, 0), (0, 1), (1, 0), (1, 1))]

    assert len({text[project.main_file] for text in texts}) == 4
    assert all(text.keys() == project.files.keys() for text in texts)
