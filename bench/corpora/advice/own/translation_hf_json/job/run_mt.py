import os
import sys
from dataclasses import dataclass, field
from typing import Optional

import numpy as np
import sacrebleu
from datasets import load_dataset
from transformers import (AutoModelForSeq2SeqLM, AutoTokenizer, DataCollatorForSeq2Seq, HfArgumentParser,
                          Seq2SeqTrainer, Seq2SeqTrainingArguments)
from transformers.trainer_utils import get_last_checkpoint


@dataclass
class Options:
    model_name: str = field(default="t5-small")
    dataset: str = field(default="wmt16")
    pair: str = field(default="de-en")
    source_prefix: Optional[str] = field(default=None)
    max_source_length: int = field(default=256)
    max_target_length: int = field(default=256)
    num_workers: int = field(default=8)


parser = HfArgumentParser((Options, Seq2SeqTrainingArguments))
if len(sys.argv) == 2 and sys.argv[1].endswith(".json"):
    opts, targs = parser.parse_json_file(json_file=os.path.abspath(sys.argv[1]))
else:
    opts, targs = parser.parse_args_into_dataclasses()

src, tgt = opts.pair.split("-")
tok = AutoTokenizer.from_pretrained(opts.model_name)
model = AutoModelForSeq2SeqLM.from_pretrained(opts.model_name)
data = load_dataset(opts.dataset, opts.pair)


def encode(examples):
    ins = [(opts.source_prefix or "") + e[src] for e in examples["translation"]]
    outs = [e[tgt] for e in examples["translation"]]
    return tok(ins, text_target=outs, max_length=opts.max_source_length, truncation=True)


data = data.map(encode, batched=True, num_proc=opts.num_workers, remove_columns=["translation"])


def bleu(p):
    preds = np.where(p.predictions != -100, p.predictions, tok.pad_token_id)
    labels = np.where(p.label_ids != -100, p.label_ids, tok.pad_token_id)
    hyp = tok.batch_decode(preds, skip_special_tokens=True)
    ref = tok.batch_decode(labels, skip_special_tokens=True)
    return {"bleu": sacrebleu.corpus_bleu(hyp, [ref]).score}


trainer = Seq2SeqTrainer(
    model,
    targs,
    train_dataset=data["train"],
    eval_dataset=data["validation"],
    tokenizer=tok,
    data_collator=DataCollatorForSeq2Seq(tok, model=model, label_pad_token_id=-100),
    compute_metrics=bleu,
)

last = None
if os.path.isdir(targs.output_dir) and not targs.overwrite_output_dir:
    last = get_last_checkpoint(targs.output_dir)
trainer.train(resume_from_checkpoint=last)
trainer.save_model()
if targs.do_predict:
    print(trainer.predict(data["test"]).metrics)
