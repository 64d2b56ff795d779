"""Loops that end before their count is full, and files that code logs to."""

from __future__ import annotations

import pytest

from advisor.frameworks.interpreted import said
from schedmate.advisor.frameworks.loops import running_out_of_time, stopping_early
from schedmate.advisor.frameworks.saving import logging_to_files

LOOP = """
    import logging, time, torch
    net = torch.nn.Linear(1, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    patience, hours, began, best, bad = 10, 23.5, time.time(), 0.0, 0
    for epoch in range(100):
        for x in torch.utils.data.DataLoader([]):
            net(x).backward()
            opt.step()
        score = float(net(x))
        if score > best:
            best, bad = score, 0
        else:
            bad += 1
        if {test}:
            break
"""


@pytest.mark.parametrize(
    ("test", "stops"),
    [
        ("bad >= patience", True),
        ("bad == 7", True),
        ("epoch - since > 5", True),
        ("epoch >= 50", None),
        ("score > 0.99", None),
    ],
)
def test_rounds_in_vain(tmp_path, test, stops):
    code = LOOP.format(test=test)
    assert said(tmp_path, code, readers=(stopping_early,)).get("early_stopping") is stops


@pytest.mark.parametrize(
    ("test", "seconds"),
    [
        ("time.time() - began > hours * 3600", 84_600),
        ("(time.time() - began) / 3600 > hours", 84_600),
        ("epoch > 3 and time.perf_counter() - began >= 900", 900),
        ("time.time() - began > 2", None),
        ("epoch > 900", None),
    ],
)
def test_time_that_runs_out(tmp_path, test, seconds):
    code = LOOP.format(test=test)
    assert said(tmp_path, code, readers=(running_out_of_time,)).get("max_time_s") == seconds


@pytest.mark.parametrize(
    ("call", "file"),
    [
        ("logging.FileHandler('{}/{}.log'.format('out', 'run'))", "out/run.log"),
        ("logging.basicConfig(filename='a.log', level=1)", "a.log"),
        ("logging.basicConfig(level=1)", None),
        ("logging.FileHandler(str(time.time()))", None),
        ("with open('out/' + 'log.txt', 'a') as f: f.write('x')", "out/log.txt"),
        ("open('out/log.txt')", None),
        ("open('out/catalog.txt', 'w')", None),
    ],
)
def test_logs(tmp_path, call, file):
    code = f"import logging, time\n{call}\n"
    assert said(tmp_path, code, readers=(logging_to_files,)).get("log_files") == file
