"""The exceptions of plain Python, in training programs with several frames and some noise."""

# ruff: noqa: E501 - programs and the lines of logs are quoted as they are
from __future__ import annotations

from bench.corpora.failures.produce.making import Job, main
from bench.corpora.failures.produce.trainers import trainer

BASH = "bash job.sh"

JOBS = [
    Job(
        name="import_missing_package",
        reason="import_error",
        cause=("ModuleNotFoundError: No module named 'flash_attn_interface'",),
        files=trainer("print", "from flash_attn_interface import flash_attn_func"),
    ),
    Job(
        name="import_renamed_function",
        reason="import_error",
        cause=("cannot import name 'collapse'",),
        files=trainer("logging", "from textwrap import dedent, collapse"),
        command=BASH,
    ),
    Job(
        name="import_circular",
        reason="import_error",
        cause=("cannot import name 'Encoder'",),
        files=trainer(
            "print",
            "from encoder import Encoder",
            encoder_py="from decoder import Decoder\n\n\nclass Encoder:\n    pass\n",
            decoder_py="from encoder import Encoder\n\n\nclass Decoder(Encoder):\n    pass\n",
        ),
    ),
    Job(
        name="syntax_bracket",
        reason="syntax_error",
        cause=("SyntaxError: '(' was never closed",),
        files=trainer(
            "logging", "WEIGHTS = dict(a=1, b=2\n\n\ndef step(state, i):\n    return 1.0"
        ),
    ),
    Job(
        name="syntax_indentation",
        reason="syntax_error",
        cause=("IndentationError",),
        files=trainer("tqdm", "def step(state, i):\nreturn 1.0"),
        command=BASH,
    ),
    Job(
        name="syntax_python2_print",
        reason="syntax_error",
        cause=("SyntaxError: Missing parentheses",),
        files={"train.py": "import os\nprint 'starting', os.getcwd()\n"},
    ),
    Job(
        name="name_undefined_variable",
        reason="name_error",
        cause=("NameError: name 'criterion' is not defined",),
        files=trainer("tqdm", "def step(state, i):\n    return criterion(i) if i == 13 else 0.5"),
    ),
    Job(
        name="name_unbound_local",
        reason="name_error",
        cause=("UnboundLocalError",),
        files=trainer(
            "logging",
            "def step(state, i):\n    if i < 11:\n        loss = 1 / (i + 1)\n    return loss * 2"
            " if i < 11 else loss",
        ),
    ),
    Job(
        name="attribute_none_config",
        reason="attribute_error",
        cause=("'NoneType' object has no attribute 'hidden_size'",),
        files=trainer(
            "caught", "def step(state, i):\n    return 1 if i < 5 else state.get('cfg').hidden_size"
        ),
    ),
    Job(
        name="attribute_module_removed",
        reason="attribute_error",
        cause=("module 'numpy' has no attribute 'float'",),
        files=trainer(
            "print",
            "import numpy as np\n\n\ndef prepare():\n    return {'w': np.zeros(3, np.float)}",
        ),
    ),
    Job(
        name="type_unexpected_keyword",
        reason="type_error",
        cause=("unexpected keyword argument 'warmup'",),
        files=trainer(
            "tqdm",
            "class Schedule:\n    def __init__(self, lr):\n        self.lr = lr\n\n\n"
            "def prepare():\n    return Schedule(lr=1e-3, warmup=100)",
        ),
        command=BASH,
    ),
    Job(
        name="type_not_json_serialisable",
        reason="type_error",
        cause=("is not JSON serializable",),
        files=trainer(
            "logging",
            "import json, numpy as np\n\n\ndef step(state, i):\n    if i == 20:\n"
            "        json.dumps({'best_step': np.int64(i)})\n    return 0.3",
        ),
    ),
    Job(
        name="value_too_many_to_unpack",
        reason="value_error",
        cause=("ValueError: too many values to unpack",),
        files=trainer(
            "print", "def step(state, i):\n    x, y = (i, i, i)[: 2 + (i > 8)]\n    return x"
        ),
    ),
    Job(
        name="value_own_check",
        reason="value_error",
        cause=("ValueError: hidden size 770 is not divisible",),
        files=trainer(
            "caught",
            "def prepare():\n    raise ValueError("
            "'hidden size 770 is not divisible by the number of heads 12')",
        ),
    ),
    Job(
        name="key_missing_in_batch",
        reason="key_error",
        cause=("KeyError: 'attention_mask'",),
        files=trainer(
            "tqdm",
            "def step(state, i):\n    batch = {'input_ids': [1], 'labels': [1]}\n"
            "    return len(batch['attention_mask']) if i > 16 else 0.7",
        ),
    ),
    Job(
        name="key_missing_column",
        reason="key_error",
        cause=("KeyError: 'label_id'",),
        files=trainer(
            "logging",
            "import pandas as pd\n\n\ndef prepare():\n"
            "    table = pd.DataFrame({'text': ['a'], 'label': [1]})\n"
            "    return {'labels': table['label_id']}",
        ),
        accept=("data_error",),
    ),
    Job(
        name="index_list",
        reason="index_error",
        cause=("IndexError: list index out of range",),
        files=trainer("print", "def step(state, i):\n    return [0.9] * 14 and ([0.9] * 14)[i]"),
    ),
    Job(
        name="index_numpy",
        reason="index_error",
        cause=("IndexError: index 50257 is out of bounds for axis 0",),
        files=trainer(
            "caught",
            "import numpy as np\n\n\ndef step(state, i):\n"
            "    return np.ones(50257)[50257 if i == 9 else i]",
        ),
    ),
    Job(
        name="zero_division_empty_loader",
        reason="zero_division",
        cause=("ZeroDivisionError",),
        files=trainer(
            "logging", "def step(state, i):\n    seen = 0 if i == 15 else 4\n    return 3 / seen"
        ),
        command=BASH,
    ),
    Job(
        name="assertion_message",
        reason="assertion_error",
        cause=("AssertionError: expected 1024 tokens, got 1025",),
        files=trainer(
            "tqdm",
            "def step(state, i):\n    n = 1024 + (i == 21)\n"
            "    assert n == 1024, f'expected 1024 tokens, got {n}'\n    return 0.1",
        ),
    ),
    Job(
        name="assertion_bare",
        reason="assertion_error",
        cause=("AssertionError", "assert state["),
        files=trainer(
            "print",
            "def step(state, i):\n    assert state['seen'] == 32 * i or i < 9\n    return 1",
        ),
    ),
    Job(
        name="exception_recursion",
        reason="python_exception",
        cause=("RecursionError: maximum recursion depth exceeded",),
        files=trainer(
            "caught", "def step(state, i):\n    return step(state, i + 1) if i > 3 else 1.0"
        ),
    ),
    Job(
        name="exception_own_class",
        reason="python_exception",
        cause=("BudgetExhausted",),
        files=trainer(
            "logging",
            "class BudgetExhausted(Exception):\n    pass\n\n\ndef step(state, i):\n"
            "    if i == 10:\n        raise BudgetExhausted('token budget of 100000 is used up')\n"
            "    return 1.1",
        ),
    ),
    Job(
        name="exception_not_implemented",
        reason="python_exception",
        cause=("NotImplementedError",),
        files=trainer(
            "print",
            "class Base:\n    def forward(self):\n        raise NotImplementedError\n\n\n"
            "def step(state, i):\n    return Base().forward()",
        ),
    ),
    Job(
        name="exception_group_of_readers",
        reason="value_error",
        cause=("ValueError: shard 3: negative length",),
        accept=("data_error",),
        files=trainer(
            "print",
            "import asyncio\n\n\nasync def read(n):\n    await asyncio.sleep(0.01 * n)\n"
            "    if n == 3:\n        raise ValueError('shard 3: negative length')\n\n\n"
            "async def read_all():\n    async with asyncio.TaskGroup() as group:\n"
            "        for n in range(5):\n            group.create_task(read(n))\n\n\n"
            "def step(state, i):\n    if i == 7:\n        asyncio.run(read_all())\n    return 0.4",
        ),
    ),
    Job(
        name="chained_key_then_runtime",
        reason="key_error",
        cause=("KeyError: 'tokenizer_v3'",),
        files=trainer(
            "logging",
            "def look_up(name):\n    return {'tokenizer_v2': 1}[name]\n\n\ndef prepare():\n"
            "    try:\n        return look_up('tokenizer_v3')\n    except KeyError as error:\n"
            "        raise RuntimeError('could not build the data pipeline') from error",
        ),
    ),
    Job(
        name="survived_errors_then_type_error",
        reason="type_error",
        cause=("TypeError: unsupported operand type(s)",),
        files=trainer(
            "caught",
            "import logging, time\n\n\ndef fetch(i):\n    if i in (2, 5):\n"
            "        raise ConnectionError('metrics endpoint did not answer')\n\n\n"
            "def step(state, i):\n    try:\n        fetch(i)\n    except ConnectionError:\n"
            "        logging.exception('could not push metrics, will try again later')\n"
            "    return 1.0 if i < 18 else '1.0' / 2",
        ),
    ),
    Job(
        name="rich_traceback_key_error",
        reason="key_error",
        cause=("KeyError: 'optimizer_state'",),
        files=trainer(
            "print",
            "from rich.traceback import install\n\ninstall(width=100, show_locals=False)\n\n\n"
            "def step(state, i):\n    return state['optimizer_state'] if i == 12 else 0.2",
        ),
    ),
    Job(
        name="thread_dies_then_main_gives_up",
        reason="index_error",
        cause=("IndexError: pop from empty list",),
        files=trainer(
            "print",
            "import threading\n\nqueue = [1, 2]\n\n\ndef prefetch():\n    while True:\n"
            "        queue.pop()\n\n\ndef step(state, i):\n    if i == 6:\n"
            "        thread = threading.Thread(target=prefetch, name='prefetch')\n"
            "        thread.start()\n        thread.join()\n"
            "        raise SystemExit('prefetch thread is gone, stopping')\n    return 0.6",
        ),
    ),
    Job(
        name="pool_worker_attribute_error",
        reason="attribute_error",
        cause=("'int' object has no attribute 'tokens'",),
        files=trainer(
            "tqdm",
            "from concurrent.futures import ProcessPoolExecutor\n\n\ndef encode(sample):\n"
            "    return sample.tokens\n\n\ndef prepare():\n    with ProcessPoolExecutor(2) as pool:\n"
            "        return list(pool.map(encode, range(4)))",
        ),
    ),
]

if __name__ == "__main__":
    main(JOBS)
