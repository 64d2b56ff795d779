"""Files of presets: many settings made by copying others, and one chosen by its name."""

from schedmate.advisor.interpret.python.values import Table

CONFIG = """
class Config:
    def __init__(self, settings):
        for key, value in settings.items():
            self.__setattr__(key, value)

    def copy(self, changes={}):
        made = Config(vars(self))
        for key, value in changes.items():
            made.__setattr__(key, value)
        return made

    def replace(self, other):
        if isinstance(other, Config):
            other = vars(other)
        for key, value in other.items():
            self.__setattr__(key, value)

base = Config({SETTINGS})
PRESETS
cfg = base.copy()

def set_cfg(name):
    cfg.replace(eval(name))
"""
ENTRY = """
import sys
from lib import library
from presets import cfg, set_cfg
set_cfg(sys.argv[1])
library(lr=cfg.lr, steps=cfg.max_iter, key90=cfg.key90)
"""


def told(job, *arguments):
    settings = ", ".join(f"'key{n}': {n}" for n in range(100))
    presets = "\n".join(f"preset{n} = base.copy({{'max_iter': {n}}})" for n in range(30))
    text = CONFIG.replace("SETTINGS", f"'lr': 0.5, {settings}").replace("PRESETS", presets)
    job.put("presets.py", text)
    calls = job.interpret(ENTRY, *arguments).trace.calls
    keywords = next(call.keywords for call in calls if call.callee == "lib.library")
    return {name: value.data for name, value in keywords.items()}


def test_the_preset_that_is_named_is_what_the_job_runs_with(job):
    assert told(job, "preset29") == {"lr": 0.5, "steps": 29, "key90": 90}


def test_methods_with_two_underscores_are_what_they_stand_for(job):
    code = """
class Own(dict):
    def __setattr__(self, name, value):
        super().__setattr__(name, value)

own, items = Own(), {}
own.__setattr__("a", 1)
object.__setattr__(own, "b", 2)
items.__setitem__("c", 3)
x = (own.a, own.b, own.__getattribute__("a"), items.__getitem__("c"))
"""
    value = job.value(code, "x")
    assert [item.data for item in value.data.items] == [1, 2, 1, 3]
    assert not isinstance(value.data, Table)
