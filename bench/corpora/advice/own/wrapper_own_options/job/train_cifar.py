import argparse, os, time
from pathlib import Path
import torch, torchvision
import torch.nn.functional as F
import torchvision.transforms as T

ap = argparse.ArgumentParser()
ap.add_argument('model')
ap.add_argument('--batch', type=int, default=128)
ap.add_argument('--epochs', type=int, default=200)
ap.add_argument('--lr', type=float, default=.1)
ap.add_argument('--ckpt', type=Path, default=Path('ckpt'))
ap.add_argument('--resume', choices=['auto', 'never'], default='never')
ap.add_argument('--nesterov', action='store_true')
a = ap.parse_args()

norm = T.Normalize((.5071, .4865, .4409), (.2673, .2564, .2762))
aug = T.Compose([T.RandomCrop(32, 4), T.RandomHorizontalFlip(), T.ToTensor(), norm])
trainset = torchvision.datasets.CIFAR100('data', True, aug, download=True)
testset = torchvision.datasets.CIFAR100('data', False, T.Compose([T.ToTensor(), norm]))
# testset = torchvision.datasets.CIFAR10('data', False, T.ToTensor())
train = torch.utils.data.DataLoader(trainset, a.batch, shuffle=True, num_workers=4)
test = torch.utils.data.DataLoader(testset, 1000)

net = getattr(torchvision.models, a.model)(num_classes=100).cuda()
opt = torch.optim.SGD(net.parameters(), a.lr, momentum=.9, weight_decay=5e-4, nesterov=a.nesterov)
sched = torch.optim.lr_scheduler.MultiStepLR(opt, [60, 90, 110], gamma=.2)

start = 0
a.ckpt.mkdir(parents=True, exist_ok=True)
last = a.ckpt / 'last.pt'
if a.resume == 'auto' and last.exists():
    s = torch.load(last)
    net.load_state_dict(s['net']); opt.load_state_dict(s['opt']); sched.load_state_dict(s['sched'])
    start = s['epoch'] + 1
    print('picked up at', start)

for ep in range(start, a.epochs):
    t0 = time.time()
    net.train()
    for x, y in train:
        loss = F.cross_entropy(net(x.cuda()), y.cuda())
        opt.zero_grad(); loss.backward(); opt.step()
    sched.step()
    net.eval()
    with torch.no_grad():
        acc = sum((net(x.cuda()).argmax(1).cpu() == y).sum().item() for x, y in test) / len(testset)
    print(f'{ep} {loss.item():.3f} {acc:.4f} {time.time() - t0:.1f}s')
    if ep % 20 == 19 or ep == a.epochs - 1:
        torch.save({'net': net.state_dict(), 'opt': opt.state_dict(), 'sched': sched.state_dict(), 'epoch': ep}, last)
