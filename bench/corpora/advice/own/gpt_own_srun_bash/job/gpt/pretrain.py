import glob
import math
import os
import sys
import time

import numpy as np
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

from config import Config
from model import GPT

c = Config.from_argv(sys.argv[1:])
began = time.time()
dist.init_process_group("nccl")
rank, world, local = dist.get_rank(), dist.get_world_size(), int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(local)
torch.manual_seed(1337 + rank)
torch.set_float32_matmul_precision("high")

out = os.path.join(c.out, f"gpt-{c.size}")
os.makedirs(out, exist_ok=True)


def stream(split):
    files = sorted(glob.glob(f"{c.data}/*{split}*.bin"))
    g = np.random.default_rng(rank)
    while True:
        tokens = np.memmap(files[g.integers(len(files))], dtype=np.uint16, mode="r")
        at = g.integers(len(tokens) - c.ctx - 1, size=c.micro)
        block = torch.from_numpy(np.stack([tokens[i:i + c.ctx + 1].astype(np.int64) for i in at])).cuda()
        yield block[:, :-1], block[:, 1:]


def lr_at(step):
    if step < c.warmup:
        return c.lr * (step + 1) / c.warmup
    t = (step - c.warmup) / (c.steps - c.warmup)
    return c.lr * (0.1 + 0.45 * (1 + math.cos(math.pi * t)))


raw = GPT(c.vocab, c.ctx, c.layers, c.heads, c.width).cuda()
decay = [p for p in raw.parameters() if p.dim() > 1]
rest = [p for p in raw.parameters() if p.dim() <= 1]
opt = torch.optim.AdamW(
    [{"params": decay, "weight_decay": c.wd}, {"params": rest, "weight_decay": 0.0}],
    lr=c.lr, betas=(0.9, 0.95), fused=True,
)
step = 0
path = os.path.join(out, "latest.pt")
if os.path.exists(path):
    state = torch.load(path, map_location="cuda")
    raw.load_state_dict(state["model"])
    opt.load_state_dict(state["opt"])
    step = state["step"]
net = DDP(torch.compile(raw), device_ids=[local])
amp = torch.autocast("cuda", dtype=torch.bfloat16)
accum = c.accumulate(world)
train, val = stream("train"), stream("val")


def save():
    if rank == 0:
        torch.save({"model": raw.state_dict(), "opt": opt.state_dict(), "step": step}, path)


while step < c.steps:
    for group in opt.param_groups:
        group["lr"] = lr_at(step)
    for i in range(accum):
        x, y = next(train)
        net.require_backward_grad_sync = i == accum - 1
        with amp:
            loss = net(x, y) / accum
        loss.backward()
    torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    opt.step()
    opt.zero_grad(set_to_none=True)
    step += 1
    if rank == 0 and step % 10 == 0:
        print(f"step {step} loss {loss.item() * accum:.4f} {time.time() - began:.0f}s", flush=True)
    if step % c.val_every == 0:
        with torch.no_grad(), amp:
            v = torch.stack([raw(*next(val)) for _ in range(c.val_steps)]).mean()
        dist.all_reduce(v, dist.ReduceOp.AVG)
        if rank == 0:
            print(f"step {step} val {v.item():.4f}", flush=True)
    if step % c.save_every == 0:
        save()
    if time.time() - began > c.hours * 3600:
        save()
        break
dist.destroy_process_group()
