import argparse
import os
import signal
import time

import torch
import torch.distributed as dist
import torch.nn as nn
import torchvision.datasets as datasets
import torchvision.models as models
import torchvision.transforms as transforms
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


def parse():
    parser = argparse.ArgumentParser(description="ImageNet, distributed")
    parser.add_argument("data")
    parser.add_argument("--arch", default="resnet18")
    parser.add_argument("--global-batch", type=int, default=256,
                        help="over all GPUs; every process takes its share")
    parser.add_argument("--val-batch", type=int, default=200, help="per GPU")
    parser.add_argument("--epochs", type=int, default=100)
    parser.add_argument("--lr", type=float, default=0.1,
                        help="for a global batch of 256, is scaled linearly")
    parser.add_argument("--momentum", type=float, default=0.9)
    parser.add_argument("--wd", type=float, default=1e-4)
    parser.add_argument("--amp", action="store_true")
    parser.add_argument("--workdir", default=".")
    parser.add_argument("--print-freq", type=int, default=50)
    return parser.parse_args()


def setup():
    dist.init_process_group("nccl")
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    return local, dist.get_rank(), dist.get_world_size()


def make_loaders(args, per_gpu):
    normalize = transforms.Normalize(mean=[0.485, 0.456, 0.406], std=[0.229, 0.224, 0.225])
    train_set = datasets.ImageFolder(
        os.path.join(args.data, "train"),
        transforms.Compose([
            transforms.RandomResizedCrop(224), transforms.RandomHorizontalFlip(),
            transforms.ToTensor(), normalize]))
    val_set = datasets.ImageFolder(
        os.path.join(args.data, "val"),
        transforms.Compose([
            transforms.Resize(256), transforms.CenterCrop(224), transforms.ToTensor(), normalize]))
    sampler = DistributedSampler(train_set)
    train = DataLoader(train_set, batch_size=per_gpu, sampler=sampler,
                       num_workers=10, pin_memory=True, persistent_workers=True)
    val = DataLoader(val_set, batch_size=args.val_batch, num_workers=10,
                     sampler=DistributedSampler(val_set, shuffle=False))
    return train, val, sampler


def validate(net, loader):
    net.eval()
    hits = torch.zeros(2, device="cuda")
    with torch.no_grad():
        for x, y in loader:
            x, y = x.cuda(non_blocking=True), y.cuda(non_blocking=True)
            hits[0] += (net(x).argmax(1) == y).sum()
            hits[1] += len(y)
    dist.all_reduce(hits)
    return (hits[0] / hits[1]).item()


def main():
    args = parse()
    local, rank, world = setup()
    assert args.global_batch % world == 0
    per_gpu = args.global_batch // world

    stop = []
    signal.signal(signal.SIGUSR1, lambda *_: stop.append(1))

    net = models.__dict__[args.arch]().cuda()
    net = DDP(nn.SyncBatchNorm.convert_sync_batchnorm(net), device_ids=[local])
    lr = args.lr * args.global_batch / 256
    opt = torch.optim.SGD(net.parameters(), lr, momentum=args.momentum,
                          weight_decay=args.wd, nesterov=True)
    sched = torch.optim.lr_scheduler.StepLR(opt, step_size=30, gamma=0.1)
    scaler = torch.amp.GradScaler("cuda", enabled=args.amp)
    loss_fn = nn.CrossEntropyLoss().cuda()

    train, val, sampler = make_loaders(args, per_gpu)

    path = os.path.join(args.workdir, "checkpoint.pth.tar")
    first = 0
    if os.path.isfile(path):
        ck = torch.load(path, map_location=f"cuda:{local}")
        net.module.load_state_dict(ck["net"])
        opt.load_state_dict(ck["opt"])
        sched.load_state_dict(ck["sched"])
        first = ck["epoch"]

    for epoch in range(first, args.epochs):
        sampler.set_epoch(epoch)
        net.train()
        tick = time.time()
        for i, (x, y) in enumerate(train):
            x, y = x.cuda(non_blocking=True), y.cuda(non_blocking=True)
            with torch.autocast("cuda", dtype=torch.float16, enabled=args.amp):
                loss = loss_fn(net(x), y)
            opt.zero_grad(set_to_none=True)
            scaler.scale(loss).backward()
            scaler.step(opt)
            scaler.update()
            if rank == 0 and i % args.print_freq == 0:
                print(f"{epoch}[{i}/{len(train)}] {loss.item():.3f} {time.time() - tick:.0f}s", flush=True)
        sched.step()
        acc = validate(net, val)
        if rank == 0:
            print(f"epoch {epoch} acc@1 {acc:.4f}", flush=True)
            torch.save({"net": net.module.state_dict(), "opt": opt.state_dict(),
                        "sched": sched.state_dict(), "epoch": epoch + 1}, path)
        if stop:
            break
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
