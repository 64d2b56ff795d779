import argparse
import os

import evaluate
import numpy as np
from datasets import load_dataset
from transformers import (
    AutoModelForSeq2SeqLM,
    AutoTokenizer,
    DataCollatorForSeq2Seq,
    Seq2SeqTrainer,
    Seq2SeqTrainingArguments,
)


def options():
    p = argparse.ArgumentParser(description="fine-tune a summariser")
    p.add_argument("--model", required=True)
    p.add_argument("--dataset", required=True)
    p.add_argument("--out", required=True)
    p.add_argument("--micro", type=int, default=8)
    p.add_argument("--accum", type=int, default=1)
    p.add_argument("--epochs", type=float, default=3)
    p.add_argument("--lr", type=float, default=5e-5)
    p.add_argument("--source-len", type=int, default=1024)
    p.add_argument("--target-len", type=int, default=64)
    half = p.add_mutually_exclusive_group()
    half.add_argument("--bf16", action="store_true")
    half.add_argument("--fp16", action="store_true")
    return p.parse_args()


def training_arguments(o):
    common = dict(
        output_dir=o.out,
        save_strategy="epoch",
        evaluation_strategy="epoch",
        predict_with_generate=True,
        generation_max_length=o.target_len,
        logging_steps=50,
        optim="adamw_torch",
    )
    precision = {"bf16": o.bf16, "fp16": o.fp16}
    return Seq2SeqTrainingArguments(
        per_device_train_batch_size=o.micro,
        per_device_eval_batch_size=2 * o.micro,
        gradient_accumulation_steps=o.accum,
        num_train_epochs=o.epochs,
        learning_rate=o.lr,
        **precision,
        **common,
    )


def main():
    o = options()
    tok = AutoTokenizer.from_pretrained(o.model)
    model = AutoModelForSeq2SeqLM.from_pretrained(o.model)
    raw = load_dataset(o.dataset)
    rouge = evaluate.load("rouge")

    def encode(b):
        x = tok(b["document"], max_length=o.source_len, truncation=True)
        x["labels"] = tok(text_target=b["summary"], max_length=o.target_len, truncation=True).input_ids
        return x

    data = raw.map(encode, batched=True, batch_size=500, remove_columns=raw["train"].column_names)

    def metrics(p):
        fix = lambda a: tok.batch_decode(np.where(a < 0, tok.pad_token_id, a), skip_special_tokens=True)
        return rouge.compute(predictions=fix(p.predictions), references=fix(p.label_ids))

    trainer = Seq2SeqTrainer(
        model=model,
        args=training_arguments(o),
        train_dataset=data["train"],
        eval_dataset=data["validation"].select(range(2000)),
        data_collator=DataCollatorForSeq2Seq(tok, model),
        tokenizer=tok,
        compute_metrics=metrics,
    )
    have = any(d.startswith("checkpoint-") for d in os.listdir(o.out))
    trainer.train(resume_from_checkpoint=have or None)
    trainer.save_model(os.path.join(o.out, "final"))


if __name__ == "__main__":
    main()
