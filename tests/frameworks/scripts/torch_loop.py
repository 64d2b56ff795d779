"""PyTorch by hand, printing as its own examples do."""

import time

import torch

EPOCHS, STEPS, BATCH, STEP_S = 3, 16, 4, 0.19

model = torch.nn.Linear(8, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
loader = torch.utils.data.DataLoader(torch.randn(STEPS * BATCH, 8), batch_size=BATCH)
for epoch in range(1, EPOCHS + 1):
    for index, batch in enumerate(loader):
        optimizer.zero_grad()
        loss = model(batch).pow(2).mean()
        loss.backward()
        optimizer.step()
        time.sleep(STEP_S)
        if index % 2 == 0:
            done, total = index * BATCH, len(loader.dataset)
            percent = 100.0 * index / len(loader)
            print(
                f"Train Epoch: {epoch} [{done}/{total} ({percent:.0f}%)]\tLoss: {loss.item():.6f}",
                flush=True,
            )
