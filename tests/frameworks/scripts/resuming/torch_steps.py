"""PyTorch by hand: saves every few steps, and goes on from what it has saved."""

import argparse
import time
from pathlib import Path

import torch

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=60)
parser.add_argument("--every", type=int, default=10)
parser.add_argument("--step-s", type=float, default=0.1)
parser.add_argument("--save-s", type=float, default=0.0)
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--out", default="checkpoints")
args = parser.parse_args()

checkpoint = Path(args.out, "last.pt")
checkpoint.parent.mkdir(exist_ok=True)
torch.manual_seed(args.seed)
truth = torch.randn(8, 1)
model = torch.nn.Linear(8, 1)
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
begin = 0
if checkpoint.exists():
    state = torch.load(checkpoint)
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    begin = state["step"]
for step in range(begin + 1, args.steps + 1):
    noise = torch.Generator().manual_seed(1000 * args.seed + step)
    batch = torch.randn(32, 8, generator=noise)
    optimizer.zero_grad()
    loss = (model(batch) - batch @ truth).pow(2).mean()
    loss.backward()
    optimizer.step()
    time.sleep(args.step_s)
    print(f"step {step}/{args.steps} loss {loss.item():.6f}", flush=True)
    if step % args.every == 0:
        state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}
        torch.save(state, f"{checkpoint}.tmp")
        time.sleep(args.save_s)
        Path(f"{checkpoint}.tmp").replace(checkpoint)
        print(f"saved checkpoint {checkpoint} at step {step}", flush=True)
