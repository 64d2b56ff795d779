import argparse
import sys
import time

import torch
from torch.utils.data import DataLoader

import zoo
from gallery import Gallery


def train(a):
    net = zoo.build(a.arch, pretrained=True).cuda().train()
    opt = torch.optim.Adam(net.parameters(), lr=a.lr, amsgrad=True)
    loader = DataLoader(Gallery(a.root, a.dataset, "train"), a.batch_size, shuffle=True, num_workers=8)
    crit = torch.nn.CrossEntropyLoss()
    for epoch in range(a.epochs):
        for x, pid, _ in loader:
            loss = crit(net(x.cuda()), pid.cuda())
            opt.zero_grad()
            loss.backward()
            opt.step()
        if epoch % 10 == 0:
            torch.save(net.state_dict(), f"weights/{a.arch.split('_')[0]}_ep{epoch}.pth")


@torch.inference_mode()
def evaluate(a):
    net = zoo.build(a.arch, pretrained=False)
    net.load_state_dict(torch.load(a.weights, map_location="cpu"))
    net.cuda().eval()
    if a.half:
        net.half()
    feats = {}
    tick = time.time()
    for part in ("query", "gallery"):
        loader = DataLoader(Gallery(a.root, a.dataset, part), a.batch_size, num_workers=8)
        out, ids, cams = [], [], []
        for x, pid, cam in loader:
            x = x.cuda()
            f = net.features(x.half() if a.half else x).float()
            out.append(torch.nn.functional.normalize(f).cpu())
            ids.append(pid)
            cams.append(cam)
        feats[part] = torch.cat(out), torch.cat(ids), torch.cat(cams)
    (q, qi, qc), (g, gi, gc) = feats["query"], feats["gallery"]
    order = (q @ g.T).argsort(1, descending=True)
    aps, r1 = [], 0
    for n in range(len(q)):
        o = order[n]
        o = o[~((gi[o] == qi[n]) & (gc[o] == qc[n]))]
        hit = (gi[o] == qi[n]).float()
        prec = hit.cumsum(0) / torch.arange(1, len(hit) + 1)
        aps.append((prec * hit).sum() / hit.sum().clamp(min=1))
        r1 += hit[0].item()
    print(f"mAP {torch.stack(aps).mean():.4f} rank-1 {r1 / len(q):.4f} in {time.time() - tick:.0f}s")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--root", required=True)
    p.add_argument("--arch", default="osnet_x1_0")
    sub = p.add_subparsers(dest="what", required=True)

    t = sub.add_parser("train")
    t.add_argument("--dataset", default="dukemtmc")
    t.add_argument("-b", "--batch-size", type=int, default=64)
    t.add_argument("--lr", type=float, default=3e-4)
    t.add_argument("--epochs", type=int, default=150)
    t.set_defaults(run=train)

    e = sub.add_parser("eval")
    e.add_argument("--weights", required=True)
    e.add_argument("--dataset", default="dukemtmc")
    e.add_argument("-b", "--batch-size", type=int, default=128)
    e.add_argument("--half", action="store_true")
    e.set_defaults(run=evaluate)

    a = p.parse_args()
    return a.run(a)


if __name__ == "__main__":
    sys.exit(main())
