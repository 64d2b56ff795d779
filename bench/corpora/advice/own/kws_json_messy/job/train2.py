import json, os, sys
import torch
import torch.nn as nn
import torch.nn.functional as F
import torchaudio

P = json.load(open(sys.argv[1]))
exp_dir = 'exp/' + P['exp']
os.makedirs(exp_dir, exist_ok=True)
EPOCHS = P['epochs']
#EPOCHS = 2
BS = P['batch']['train']
LR = P['lr']
# LR = 0.01  # too high

LABELS = sorted(os.listdir('data/SpeechCommands/speech_commands_v0.02'))
LABELS = [l for l in LABELS if not l.startswith('_') and '.' not in l]
mel = torchaudio.transforms.MelSpectrogram(16000, n_mels=64, hop_length=160).cuda()


class KWSNet(nn.Module):
    '''conv front end + gru'''
    def __init__(self, h, layers, n):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2))
        self.rnn = nn.GRU(32 * 16, h, layers, batch_first=True, bidirectional=True)
        self.fc = nn.Linear(2 * h, n)

    def forward(self, x):
        x = torch.log(mel(x) + 1e-6)
        x = self.conv(x)
        x = x.permute(0, 3, 1, 2).flatten(2)
        x, _ = self.rnn(x)
        return self.fc(x.mean(1))


def collate(b):
    w = [F.pad(x[0], (0, 16000 - x[0].shape[1])) for x in b]
    return torch.stack(w), torch.tensor([LABELS.index(x[2]) for x in b])


def get(subset, bs):
    ds = torchaudio.datasets.SPEECHCOMMANDS('data', subset=subset)
    return torch.utils.data.DataLoader(ds, bs, shuffle=subset == 'training', collate_fn=collate, num_workers=6)


train_dl = get('training', BS)
val_dl = get('validation', P['batch']['test'])

model = KWSNet(P['hidden'], P['rnn_layers'], len(LABELS)).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=LR)
#optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, P['step_size'], 0.3)

best = 0
for epoch in range(EPOCHS):
    model.train()
    for n, (x, y) in enumerate(train_dl):
        loss = F.cross_entropy(model(x.cuda()), y.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if n % 100 == 0:
            print('epoch', epoch, 'it', n, 'loss', loss.item())
    scheduler.step()
    model.eval()
    c = 0
    with torch.no_grad():
        for x, y in val_dl:
            c += (model(x.cuda()).argmax(1).cpu() == y).sum().item()
    acc = c / len(val_dl.dataset)
    print('VAL', epoch, acc)
    if acc > best:
        best = acc
        torch.save(model.state_dict(), exp_dir + '/best.pt')
