"""Loops and optimisers that a job wrote itself."""

from advisor.launch.trees import Tree, assert_found

OWN = """\
=== fit.py
import torch

class Warmup:
    def __init__(self, inner):
        self.inner = inner
    def step(self):
        for group in self.inner.param_groups:
            group["lr"] = 0.1
    def zero_grad(self):
        self.inner.zero_grad()

model = torch.nn.Linear(4, 4)
optimizer = Warmup(torch.optim.Adam(model.parameters(), lr=0.1))
loader = torch.utils.data.DataLoader([1, 2, 3], batch_size=2)
epoch = 1
while epoch <= 9:
    for i, batch in enumerate(loader):
        model(batch).sum().backward()
        if (i + 1) % 3 == 0:
            optimizer.step()
            optimizer.zero_grad()
    torch.save(model.state_dict(), "kept/./last.pth")
    epoch = epoch + 1
"""


def test_a_loop_that_counts_by_itself_with_an_optimiser_of_its_own(tmp_path):
    more = (("checkpoint_every", 1), ("checkpoint_dir", "kept"), ("gradient_accumulation", 3))
    tree = Tree("own", OWN, "-- python fit.py", entry="fit.py", more=more)
    assert_found(tree, tmp_path)
