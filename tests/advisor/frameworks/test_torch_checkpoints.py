"""Where a hand-written loop saves, and how often."""

from __future__ import annotations

import pytest

from advisor.frameworks.interpreted import said
from schedmate.advisor.frameworks.saving import saving

LOOP = """
    import argparse, os, torch
    import torch.multiprocessing as mp
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", default="output")
    parser.add_argument("--rank", type=int)
    args = parser.parse_args()
    net = torch.nn.Linear(1, 1)
    gpus = torch.cuda.device_count()
    args.rank = args.rank * gpus + torch.randint(9)

    def save_on_master(*args, **kwargs):
        torch.save(*args, **kwargs)

    for epoch in range(90):
        {save}
"""


@pytest.mark.parametrize(
    ("save", "found"),
    [
        ("torch.save(net, f'{args.out}/{epoch}.pt')", ("output", 1)),
        ("torch.save(net, '%s/net_%d.pt' % (args.out, epoch))", ("output", 1)),
        ("torch.save(net, '{}/{}.pt'.format(args.out, epoch))", ("output", 1)),
        ("save_on_master(net, os.path.join(args.out, 'last.pt'))", ("output", 1)),
        (
            "[save_on_master(net, p) for p in (args.out + '/a.pt', args.out + '/b.pt')]",
            ("output", 1),
        ),
        ("if args.rank % gpus == 0: torch.save(net, args.out + '/a.pt')", ("output", 1)),
        ("if epoch % 5 == 0: torch.save(net, args.out + '/a.pt')", ("output", 5)),
        ("if torch.rand(1) > 0.5: torch.save(net, args.out + '/a.pt')", ("output", None)),
        ("torch.save(net(1), f'{args.out}/eval/{epoch}.pth')", (None, None)),
        ("torch.save(net(1), f'{args.out}/features_{epoch}.pth')", (None, None)),
    ],
)
def test_saves_in_the_loop_over_epochs(tmp_path, save, found):
    told = said(tmp_path, LOOP.format(save=save), readers=(saving,))
    assert (told.get("checkpoint_dir"), told.get("checkpoint_every")) == found
