"""Firm signs: a loss that stays no number, checkpoints that are not written."""

from __future__ import annotations

import pytest

from bench.accuracy.doomed import by_schedmate
from bench.corpora.doomed_runs import labelled_runs
from schedmate.model.wire import dumps, loads
from schedmate.tracker.facts import Facts
from schedmate.tracker.report import progress_of
from schedmate.tracker.scan import LogScan

STEPS = [f"step {n} loss {3 - n / 500:.3f}" for n in range(100)]
LOST = [f"step {n} loss nan" for n in range(100, 400)]
WELL = [f"step {n} loss 2.5" for n in range(400, 420)]
FAILED = "could not save checkpoint out/{}.pt: [Errno 28] No space left on device"


def firm(*lines, scan=None):
    scan = LogScan() if scan is None else scan
    scan.feed([line.encode() for line in lines], None)
    facts = Facts(logs=("a.log",), scans=[scan])
    return {one.reason: one for one in progress_of(facts).warnings if one.firm}


def test_a_loss_that_stays_no_number_and_the_line_where_it_began():
    found = firm(*STEPS, *LOST)["loss_nan"]
    assert found.line == "step 100 loss nan"
    assert found.text == "its loss has been no number in 300 reports in a row, since 100"


@pytest.mark.parametrize(
    "lines",
    [
        [*STEPS, *LOST[:40]],
        [*STEPS, *LOST, *WELL],
        LOST,
        [*STEPS, *LOST, "restoring checkpoint out/50.pt"],
        [*STEPS, *(each for line in LOST for each in (line, "overflow, skipping this step"))],
        [*STEPS, *(f"{line} val_loss 2.1" for line in LOST)],
        [f"step {n} loss 2.1 aux_loss nan" for n in range(400)],
        ["Trial 1/3", *STEPS, "Trial 2/3", *STEPS, *LOST],
        [*STEPS, *STEPS, *LOST],
        [f"Fold 1 {line}" for line in (*STEPS, *LOST)],
        [*STEPS, *(f"{line} grad_norm 0.0" for line in LOST)],
    ],
    ids=[
        *("short", "recovered", "never", "restored", "skipped", "validated", "a part", "a trial"),
        *("the second training", "a fold", "gradients are numbers"),
    ],
)
def test_what_may_recover_is_not_stated(lines):
    assert not firm(*lines)


def test_one_training_after_the_other_and_the_next_is_lost_too():
    again = [f"step {n} loss nan" for n in range(320)]
    assert "loss_nan" in firm(*STEPS, *STEPS, *LOST, *again)


@pytest.mark.parametrize(
    "failed",
    [
        "cannot write checkpoint to /local (No space left on device), using /scratch",
        "cp: cannot create regular file '/shared/latest.pt': Permission denied",
        "could not write samples/9.png of this checkpoint: Permission denied",
        "Permission denied: '/old/9.pt'\nusing /home/ada instead\nwrote /home/ada/9.pt",
    ],
    ids=["another place", "a copy", "a picture", "another place, said later"],
)
def test_what_is_no_lost_checkpoint(failed):
    assert not firm(*STEPS[:50], *failed.split("\n"), *STEPS[50:], *failed.split("\n"), *WELL)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        ("[enforce fail at inline_container.cc:672] . unexpected pos 832 vs 726", "storage_io"),
        ("[Errno 5] Input/output error", "storage_io"),
        ("open file failed with strerror: Operation not permitted", "permission_denied"),
    ],
)
def test_how_torch_and_file_systems_put_it(error, reason):
    failed = f"saving out/9.pt failed: {error}"
    assert reason in firm(*STEPS[:50], failed, *STEPS[50:], failed, *WELL)


def test_checkpoints_that_fail_twice_while_the_run_goes_on():
    lines = [*STEPS[:50], FAILED.format(50), *STEPS[50:], FAILED.format(100)]
    assert not firm(*lines), "it has not gone on since"
    found = firm(*lines, *WELL)["disk_full"]
    assert found.line == FAILED.format(50)
    assert not firm(*lines, *WELL, "saved checkpoint to out/420.pt", *WELL)


def test_the_state_survives_a_restart():
    scan = LogScan()
    assert not firm(*STEPS, *LOST[:150], FAILED.format(1), scan=scan)
    again = loads(LogScan, dumps(scan))
    assert set(firm(*LOST[150:], FAILED.format(2), *LOST[-2:], scan=again)) >= {"loss_nan"}


@pytest.mark.slow
def test_every_labelled_run_is_told_apart():
    """Those of bench/corpora/doomed, written before the code."""
    wrong = {}
    for run in labelled_runs():
        found = by_schedmate(run)
        if (set(found.told), set(found.stopped)) != (set(run.doomed), set(run.doomed)):
            wrong[run.name] = found
    assert not wrong
