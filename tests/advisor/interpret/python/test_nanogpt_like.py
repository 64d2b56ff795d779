# ruff: noqa: E501 - code of jobs reads better on one line
"""A script of constants, changed by a configurator that execs files and writes globals."""

from advisor.interpret.python.support import last, plain

TRAIN = """\
import os
out_dir = 'out'
batch_size = 12
n_layer = 12
dtype = 'bfloat16'
config_keys = [k for k, v in globals().items() if not k.startswith('_') and isinstance(v, (int, float, bool, str))]
exec(open('configurator.py').read())
config = {k: globals()[k] for k in config_keys}
ddp = int(os.environ.get('RANK', -1)) != -1
tokens = batch_size * 1024
"""
CONFIGURATOR = """\
import sys
from ast import literal_eval
for arg in sys.argv[1:]:
    if '=' not in arg:
        assert not arg.startswith('--')
        with open(arg) as f:
            print(f.read())
        exec(open(arg).read())
    else:
        key, val = arg.split('=')
        key = key[2:]
        if key in globals():
            try:
                attempt = literal_eval(val)
            except (SyntaxError, ValueError):
                attempt = val
            assert type(attempt) == type(globals()[key])
            globals()[key] = attempt
        else:
            raise ValueError(key)
"""


def test_the_last_word_wins_and_says_where_it_stands(job):
    job.write(configurator=CONFIGURATOR).put("config/small.py", "n_layer = 6\nbatch_size = 64\n")
    seen = job.interpret(TRAIN, "config/small.py", "--batch_size=17", "--dtype=float16")
    config = last(seen, "config")
    assert plain(config) == {"out_dir": "out", "batch_size": 17, "n_layer": 6, "dtype": "float16"}
    parts = config.data.parts
    assert [parts[name].source for name in ("out_dir", "batch_size", "n_layer")] == [
        "code",
        "cli",
        "config",
    ]
    assert (parts["n_layer"].lines[0].file, parts["n_layer"].lines[0].line) == (
        "config/small.py",
        1,
    )
    assert (parts["out_dir"].lines[0].file, parts["out_dir"].lines[0].line) == ("train.py", 2)
    assert last(seen, "tokens").data == 17 * 1024
    assert last(seen, "tokens").source == "cli"
    assert last(seen, "ddp").data is False
