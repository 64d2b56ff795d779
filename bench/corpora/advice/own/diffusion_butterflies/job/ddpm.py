import argparse
import math
import os
from dataclasses import dataclass, replace

import torch
import torch.nn.functional as F
from accelerate import Accelerator
from datasets import load_dataset
from diffusers import DDPMPipeline, DDPMScheduler, UNet2DModel
from diffusers.optimization import get_cosine_schedule_with_warmup
from torchvision import transforms
from torchvision.utils import save_image


@dataclass(frozen=True)
class TrainingConfig:
    image_size: int = 128
    train_batch_size: int = 16
    eval_batch_size: int = 9
    num_epochs: int = 50
    gradient_accumulation_steps: int = 2
    learning_rate: float = 1e-4
    lr_warmup_steps: int = 500
    save_image_epochs: int = 10
    save_model_epochs: int = 30
    mixed_precision: str = "fp16"  # `no` for fp32
    output_dir: str = "ddpm-butterflies-128"
    timesteps: int = 1000


def make_model(c):
    return UNet2DModel(
        sample_size=c.image_size,
        in_channels=3,
        out_channels=3,
        layers_per_block=2,
        block_out_channels=(128, 128, 256, 256, 512, 512),
        down_block_types=("DownBlock2D",) * 4 + ("AttnDownBlock2D", "DownBlock2D"),
        up_block_types=("UpBlock2D", "AttnUpBlock2D") + ("UpBlock2D",) * 4,
    )


def loop(c, model, scheduler, optimizer, loader, lrs):
    acc = Accelerator(mixed_precision=c.mixed_precision,
                      gradient_accumulation_steps=c.gradient_accumulation_steps)
    model, optimizer, loader, lrs = acc.prepare(model, optimizer, loader, lrs)
    for epoch in range(c.num_epochs):
        for batch in loader:
            x = batch["images"]
            noise = torch.randn_like(x)
            t = torch.randint(0, c.timesteps, (len(x),), device=x.device)
            noisy = scheduler.add_noise(x, noise, t)
            with acc.accumulate(model):
                loss = F.mse_loss(model(noisy, t, return_dict=False)[0], noise)
                acc.backward(loss)
                acc.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                lrs.step()
                optimizer.zero_grad()
        acc.print(f"epoch {epoch} loss {loss.item():.5f} lr {lrs.get_last_lr()[0]:.2e}")
        if not acc.is_main_process:
            continue
        pipe = DDPMPipeline(acc.unwrap_model(model), scheduler)
        if (epoch + 1) % c.save_image_epochs == 0:
            images = pipe(batch_size=c.eval_batch_size, output_type="pt").images
            save_image(images, os.path.join(c.output_dir, f"{epoch:04d}.png"), nrow=int(math.sqrt(c.eval_batch_size)))
        if (epoch + 1) % c.save_model_epochs == 0 or epoch == c.num_epochs - 1:
            pipe.save_pretrained(c.output_dir)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--num-epochs", type=int)
    ap.add_argument("--batch", type=int)
    a = ap.parse_args()
    c = TrainingConfig()
    if a.num_epochs:
        c = replace(c, num_epochs=a.num_epochs)
    if a.batch:
        c = replace(c, train_batch_size=a.batch)
    os.makedirs(c.output_dir, exist_ok=True)

    data = load_dataset("huggan/smithsonian_butterflies_subset", split="train")
    tf = transforms.Compose([
        transforms.Resize((c.image_size, c.image_size)), transforms.RandomHorizontalFlip(),
        transforms.ToTensor(), transforms.Normalize([0.5], [0.5]),
    ])
    data.set_transform(lambda e: {"images": [tf(i.convert("RGB")) for i in e["image"]]})
    loader = torch.utils.data.DataLoader(data, batch_size=c.train_batch_size, shuffle=True)
    model = make_model(c)
    optimizer = torch.optim.AdamW(model.parameters(), lr=c.learning_rate)
    lrs = get_cosine_schedule_with_warmup(optimizer, c.lr_warmup_steps, len(loader) * c.num_epochs)
    loop(c, model, DDPMScheduler(num_train_timesteps=c.timesteps), optimizer, loader, lrs)


if __name__ == "__main__":
    main()
