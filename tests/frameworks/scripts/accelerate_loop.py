"""A loop by hand with Accelerate, its printing and its bar."""

import time

import torch
from accelerate import Accelerator
from accelerate.utils import tqdm

EPOCHS, STEPS, BATCH, STEP_S = 3, 16, 4, 0.19

accelerator = Accelerator(cpu=True)
model = torch.nn.Linear(8, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
loader = torch.utils.data.DataLoader(torch.randn(STEPS * BATCH, 8), batch_size=BATCH)
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
bar = tqdm(total=EPOCHS * STEPS)
for epoch in range(EPOCHS):
    for batch in loader:
        loss = model(batch).pow(2).mean()
        accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
        time.sleep(STEP_S)
        bar.update()
    accelerator.print(f"epoch {epoch}: loss {loss.item():.4f}")
