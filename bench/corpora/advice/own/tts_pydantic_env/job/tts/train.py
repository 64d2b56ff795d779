import itertools

import torch
from torch.nn import functional as F
from torch.utils.data import DataLoader

from .data import LJ, collate
from .model import TacoLite
from .settings import Settings


def latest(folder):
    found = sorted(folder.glob("step_*.pt"))
    return found[-1] if found else None


def main():
    s = Settings()
    s.out.mkdir(parents=True, exist_ok=True)
    train = DataLoader(LJ(s.corpus, "train"), s.batch_size, shuffle=True, collate_fn=collate, num_workers=8)
    valid = DataLoader(LJ(s.corpus, "valid"), s.valid_batch_size, collate_fn=collate)

    net = TacoLite(**s.model.model_dump()).cuda()
    opt = torch.optim.RAdam(net.parameters(), lr=s.optim.lr, betas=s.optim.betas)

    step = 0
    if (path := latest(s.out)) is not None:
        state = torch.load(path, weights_only=True)
        net.load_state_dict(state["net"])
        opt.load_state_dict(state["opt"])
        step = state["step"]

    stream = itertools.chain.from_iterable(itertools.repeat(train))
    while step < s.steps:
        opt.zero_grad()
        for _ in range(s.accumulate):
            text, mel = next(stream)
            out, gate = net(text.cuda(), mel.cuda())
            loss = F.l1_loss(out, mel.cuda()) + F.binary_cross_entropy_with_logits(gate, torch.zeros_like(gate))
            (loss / s.accumulate).backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), s.optim.clip)
        opt.step()
        step += 1
        if step % 50 == 0:
            print("step", step, "loss", f"{loss.item():.4f}", flush=True)
        if step % s.save_every == 0:
            torch.save({"net": net.state_dict(), "opt": opt.state_dict(), "step": step},
                       s.out / f"step_{step:07d}.pt")
        if step % s.sample_every == 0:
            with torch.no_grad():
                text, mel = next(iter(valid))
                torch.save(net(text.cuda(), mel.cuda())[0].cpu(), s.out / "sample.pt")


if __name__ == "__main__":
    main()
