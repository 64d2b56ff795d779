"""Early warnings: given while something can still be done, and not of healthy runs."""

import pytest

from schedmate.model.wire import dumps, loads
from schedmate.tracker.facts import Facts
from schedmate.tracker.failure_signs import WarningSigns
from schedmate.tracker.formats import Sighting
from schedmate.tracker.report import progress_of
from schedmate.tracker.scan import LogScan

STEP = "step {n}/1000 | loss 2.31 | lr 0.001"


def warned(*lines, steps_after=3, limit_s=None):
    scan = LogScan()
    last = [STEP.format(n=n) for n in range(500, 500 + steps_after)]
    text = [*(STEP.format(n=n) for n in range(400, 410)), *lines, *last]
    scan.feed([line.encode() for line in text], None)
    facts = Facts(logs=("a.log",), scans=[scan], limit_s=limit_s)
    return {one.reason: one for one in progress_of(facts).warnings}


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("CUDA out of memory. Tried to allocate 2 GiB, skipping batch 17", "gpu_oom"),
        ("| WARNING: OOM in forward, attempting to recover; skip this batch", "gpu_oom"),
        ("1 pytorch allocator cache flushes since last step. this happens when", "gpu_oom"),
        ("WARNING disk /scratch is 97% used", "disk_full"),
        ("warning: low disk space on /data", "disk_full"),
        ("could not write event: [Errno 28] No space left on device, retrying", "disk_full"),
        ("NVRM: Xid (PCI:0000:3b:00): 94, Contained ECC error", "gpu_hardware"),
        ("nfs: server 10.0.0.1 not responding, still trying", "storage_io"),
        ("Failed to save checkpoint to /ckpt/step_100, going on", "storage_io"),
        ("RAM usage at 98.5 %", "host_oom"),
    ],
)
def test_a_line_that_warns_is_shown_with_what_it_may_end_in(line, reason):
    found = warned(line)
    assert set(found) == {reason}
    assert found[reason].line == line


@pytest.mark.parametrize(
    "line",
    [
        "GPU memory 98% used",
        "disk /scratch is 41% used",
        "INFO skip_batch_on_oom=True",
        "information: reduce lr on plateau",
        "step_avg:nan",
        "Gradient overflow. Skipping step, loss scaler 0 reducing loss scale to 32768.0",
        "saved checkpoint to /ckpt/step_100",
        "max_memory: 95",
    ],
)
def test_a_healthy_line_warns_of_nothing(line):
    assert not warned(line)


def test_numbers_decide_although_lines_of_one_shape_are_judged_together():
    assert set(warned("disk is 41% full", "disk is 97% full")) == {"disk_full"}


def test_a_loss_that_goes_on_being_no_number():
    bad = [f"step {n}/1000 | loss nan | lr 0.001" for n in range(410, 414)]
    assert set(warned(*bad, steps_after=0)) == {"loss_nan"}
    assert not warned(*bad, steps_after=3)
    assert not warned(*bad[:1], steps_after=0)


def test_overflows_warn_when_they_do_not_stop():
    line = "Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to {}"
    found = warned(*(line.format(n) for n in range(6)))
    assert found["loss_nan"].text == "gradients overflowed 6 times"


def test_a_run_that_failed_or_finished_needs_no_warning():
    line = "CUDA out of memory, skipping the batch"
    assert not warned(line, "Traceback (most recent call last):", steps_after=0)
    assert not warned(line, "step 1000/1000 | loss 2.31", steps_after=0)


def test_the_state_survives_a_restart():
    warning_signs = WarningSigns()
    warning_signs.see("CUDA out of memory, skipping", 7)
    lost = Sighting(unit="step", current=3, metrics={"train_loss": float("nan")})
    warning_signs.report(lost, None, "step 3 train_loss nan", 8, 1)
    assert loads(WarningSigns, dumps(warning_signs)) == warning_signs
