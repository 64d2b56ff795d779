"""Launchers that put the rank of a process before the program's own arguments."""

import pytest

from advisor.launch.trees import Tree, assert_found

RANKED = """\
=== ranked.py
import argparse
import torch
from torch.nn.parallel import DistributedDataParallel

parser = argparse.ArgumentParser()
parser.add_argument("--local_rank", type=int, default=-1)
args = parser.parse_args()
model = torch.nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
if args.local_rank != -1:
    model = DistributedDataParallel(model, device_ids=[args.local_rank])
for epoch in range(9):
    model(torch.rand(4)).sum().backward()
    optimizer.step()
"""
LAUNCH = "-- python -m torch.distributed.launch --nproc_per_node 2"


@pytest.mark.parametrize(
    ("command", "way"),
    [
        (f"{LAUNCH} ranked.py", "ddp"),
        ("-- deepspeed --num_gpus 2 ranked.py", "ddp"),
        (f"{LAUNCH} --use_env ranked.py", None),
        ("-- python ranked.py", None),
    ],
)
def test_a_rank_is_handed_on(command, way, tmp_path):
    tree = Tree("ranks", RANKED, command, entry="ranked.py", more=(("parallelism", way),))
    assert_found(tree, tmp_path)
