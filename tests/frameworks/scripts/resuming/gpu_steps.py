"""PyTorch on a GPU where there is one: trains as fast as it goes, saves, and goes on from there."""

import argparse
import time
from pathlib import Path

import torch

REPORT_EVERY = 20

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=200)
parser.add_argument("--every", type=int, default=100)
parser.add_argument("--step-s", type=float, default=0.0)
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--out", default="checkpoints")
args = parser.parse_args()

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
width = 4096 if device.type == "cuda" else 64
if device.type == "cpu":
    torch.set_num_threads(1)
checkpoint = Path(args.out, "last.pt")
checkpoint.parent.mkdir(exist_ok=True)
torch.manual_seed(args.seed)
truth = torch.randn(width, 1, device=device)
layers = [torch.nn.Linear(width, width), torch.nn.ReLU(), torch.nn.Linear(width, 1)]
model = torch.nn.Sequential(*layers).to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
begin = 0
if checkpoint.exists():
    state = torch.load(checkpoint)
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    begin = state["step"]
for step in range(begin + 1, args.steps + 1):
    batch = torch.randn(width, width, device=device)
    optimizer.zero_grad()
    loss = (model(batch) - batch @ truth / width**0.5).pow(2).mean()
    loss.backward()
    optimizer.step()
    time.sleep(args.step_s)
    if step % REPORT_EVERY == 0 or step == args.steps:
        print(f"step {step}/{args.steps} loss {loss.item():.6f}", flush=True)
    if step % args.every == 0:
        state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}
        torch.save(state, f"{checkpoint}.tmp")
        Path(f"{checkpoint}.tmp").replace(checkpoint)
        print(f"saved checkpoint {checkpoint} at step {step}", flush=True)
