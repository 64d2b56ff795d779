"""Which progress the decision engine hears of."""

from dataclasses import replace

from schedmate.model import EarlyWarning
from schedmate.service.daemon.progress_filter import ProgressFilter
from schedmate.testing.builders import a_progress

WARNED = EarlyWarning(reason="loss_nan", text="its loss is no number")


def test_it_hears_at_once_when_a_warning_becomes_firm():
    passed, progress = ProgressFilter(600.0), replace(a_progress(), eta_s=None)
    assert passed.is_new("1", progress, 0.0)
    assert not passed.is_new("1", progress, 1.0)

    assert passed.is_new("1", replace(progress, warnings=(WARNED,)), 2.0)
    assert not passed.is_new("1", replace(progress, warnings=(WARNED,)), 3.0)
    assert passed.is_new("1", replace(progress, warnings=(replace(WARNED, firm=True),)), 4.0)
