# /// script
# requires-python = ">=3.10"
# dependencies = ["torch", "transformers", "peft", "bitsandbytes", "datasets"]
# ///
import argparse

import torch
from datasets import load_dataset
from peft import LoraConfig
from transformers import AutoModelForCausalLM, AutoTokenizer, BitsAndBytesConfig
from trl import SFTConfig, SFTTrainer

PRESETS = {
    "tiny": dict(model="TinyLlama/TinyLlama-1.1B-Chat-v1.0", bs=8, accum=4, lr=2e-4, seq=1024),
    "mistral": dict(model="mistralai/Mistral-7B-v0.1", bs=2, accum=16, lr=1e-4, seq=2048),
    "llama": dict(model="meta-llama/Llama-2-13b-hf", bs=1, accum=32, lr=5e-5, seq=4096),
}


def cli():
    ap = argparse.ArgumentParser()
    ap.add_argument("--preset", choices=sorted(PRESETS), default="tiny")
    ap.add_argument("--epochs", type=float, default=1.0)
    ap.add_argument("--dataset", default="HuggingFaceH4/no_robots")
    ap.add_argument("--rank", type=int, default=64)
    ap.add_argument("--no-quant", dest="quant", action="store_false")
    return ap.parse_args()


def base_model(name, quant):
    bnb = None
    if quant:
        bnb = BitsAndBytesConfig(
            load_in_4bit=True,
            bnb_4bit_quant_type="nf4",
            bnb_4bit_compute_dtype=torch.bfloat16,
            bnb_4bit_use_double_quant=True,
        )
    model = AutoModelForCausalLM.from_pretrained(
        name,
        quantization_config=bnb,
        torch_dtype=torch.bfloat16,
        device_map={"": 0},
        attn_implementation="flash_attention_2",
    )
    model.config.use_cache = False
    return model


def main():
    a = cli()
    p = PRESETS[a.preset]
    tok = AutoTokenizer.from_pretrained(p["model"])
    tok.pad_token = tok.eos_token
    short = a.dataset.split("/")[-1]

    lora = LoraConfig(
        r=a.rank,
        lora_alpha=16,
        lora_dropout=0.1,
        target_modules=["q_proj", "k_proj", "v_proj", "o_proj"],
        task_type="CAUSAL_LM",
    )
    config = SFTConfig(
        output_dir=f"outputs/{a.preset}-{short}",
        num_train_epochs=a.epochs,
        per_device_train_batch_size=p["bs"],
        gradient_accumulation_steps=p["accum"],
        learning_rate=p["lr"],
        max_seq_length=p["seq"],
        packing=True,
        bf16=True,
        optim="paged_adamw_8bit",
        lr_scheduler_type="cosine",
        warmup_ratio=0.03,
        save_steps=100,
        logging_steps=10,
        gradient_checkpointing=True,
    )
    trainer = SFTTrainer(
        model=base_model(p["model"], a.quant),
        args=config,
        train_dataset=load_dataset(a.dataset, split="train"),
        peft_config=lora,
        tokenizer=tok,
    )
    trainer.train()
    trainer.model.save_pretrained(config.output_dir + "/adapter")


if __name__ == "__main__":
    main()
