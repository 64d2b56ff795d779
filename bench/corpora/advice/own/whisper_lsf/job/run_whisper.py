#!/usr/bin/env python
from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import Any

import evaluate
from datasets import Audio, load_dataset
from transformers import (
    HfArgumentParser,
    Seq2SeqTrainer,
    Seq2SeqTrainingArguments,
    WhisperForConditionalGeneration,
    WhisperProcessor,
)

log = logging.getLogger(__name__)


@dataclass
class ModelArguments:
    model_name_or_path: str = field(default="openai/whisper-tiny")
    language: str = field(default="slovenian")
    freeze_encoder: bool = field(default=False)


@dataclass
class DataArguments:
    dataset_name: str = field(default="mozilla-foundation/common_voice_13_0")
    dataset_config: str = field(default="en")
    max_label_length: int = field(default=448)
    max_train_samples: int | None = field(default=None)
    preprocessing_batch_size: int = field(default=64, metadata={"help": "only for datasets.map"})


@dataclass
class Collator:
    processor: Any
    start: int

    def __call__(self, features):
        inputs = [{"input_features": f["input_features"]} for f in features]
        batch = self.processor.feature_extractor.pad(inputs, return_tensors="pt")
        labels = self.processor.tokenizer.pad([{"input_ids": f["labels"]} for f in features], return_tensors="pt")
        ids = labels["input_ids"].masked_fill(labels.attention_mask.ne(1), -100)
        if (ids[:, 0] == self.start).all():
            ids = ids[:, 1:]
        batch["labels"] = ids
        return batch


def main():
    parser = HfArgumentParser((ModelArguments, DataArguments, Seq2SeqTrainingArguments))
    model_args, data_args, training_args = parser.parse_args_into_dataclasses()

    processor = WhisperProcessor.from_pretrained(
        model_args.model_name_or_path, language=model_args.language, task="transcribe"
    )
    model = WhisperForConditionalGeneration.from_pretrained(model_args.model_name_or_path)
    model.config.forced_decoder_ids = None
    if model_args.freeze_encoder:
        model.freeze_encoder()

    raw = load_dataset(data_args.dataset_name, data_args.dataset_config)
    raw = raw.cast_column("audio", Audio(sampling_rate=16000))

    def prepare(batch):
        audio = [a["array"] for a in batch["audio"]]
        batch["input_features"] = processor.feature_extractor(audio, sampling_rate=16000).input_features
        batch["labels"] = processor.tokenizer(
            batch["sentence"], max_length=data_args.max_label_length, truncation=True
        ).input_ids
        return batch

    data = raw.map(
        prepare,
        batched=True,
        batch_size=data_args.preprocessing_batch_size,
        remove_columns=raw["train"].column_names,
    )
    wer = evaluate.load("wer")

    def compute_metrics(pred):
        ids = pred.label_ids
        ids[ids == -100] = processor.tokenizer.pad_token_id
        hyp = processor.batch_decode(pred.predictions, skip_special_tokens=True)
        ref = processor.batch_decode(ids, skip_special_tokens=True)
        return {"wer": 100 * wer.compute(predictions=hyp, references=ref)}

    trainer = Seq2SeqTrainer(
        model=model,
        args=training_args,
        train_dataset=data["train"],
        eval_dataset=data["test"],
        data_collator=Collator(processor, model.config.decoder_start_token_id),
        compute_metrics=compute_metrics,
        tokenizer=processor.feature_extractor,
    )
    trainer.train()
    trainer.save_model()
    log.info(trainer.evaluate())


if __name__ == "__main__":
    main()
