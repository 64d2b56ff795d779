"""The names that training code gives to the fields of a workload record.

Adding a name is one word here; the first names of a field win over later ones.
"""

from __future__ import annotations

import re

from schedmate.advisor.settle.meanings import last_part
from schedmate.advisor.settle.time_caps import cap_name
from schedmate.advisor.sources.words import words

_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_NAMES: dict[str, str] = {
    "model": "model model_name model_name_or_path model_id model_type arch architecture "
    "net network backbone pretrained_model_name_or_path base_model",
    "dataset": "dataset dataset_name data_name dataset_id task_name train_dataset "
    "data_set data data_dir data_path dataset_path data_root dataset_dir train_dir dataset_names "
    "datasets corpus train_data train_data_path train_data_dir training_data data_prefix "
    "dataset_root dataset_file train_file train_files data_file data_files train_path csv_file "
    "train_csv csv_path train_csv_path data_csv train_json train_list",
    "d_model": "d_model n_embd hidden_size embed_dim embedding_dim emsize model_dim dim n_embed "
    "hidden_dim emb_dim embed_size embedding_size hidden_channels",
    "n_layer": "n_layer n_layers num_layers nlayers num_hidden_layers num_layer layers depth "
    "encoder_layers enc_layers num_encoder_layers",
    "n_head": "n_head n_heads num_heads nhead nheads num_attention_heads heads "
    "encoder_attention_heads attention_heads",
    "vocab_size": "vocab_size n_vocab num_tokens padded_vocab_size vocabulary_size "
    "pad_vocab_size_to vocab",
    "sequence_length": "sequence_length seq_len seq_length max_seq_length max_seq_len block_size "
    "blocksize "
    "context_length ctx_len max_length bptt context_size max_sequence_length sequence_len seqlen "
    "context_len block_len tokens_per_sample model_max_length max_source_length max_len maxlen seq",
    "batch_size": "per_device_train_batch_size per_gpu_train_batch_size per_device_batch_size "
    "per_gpu_batch_size batch_size_per_gpu batch_size_per_device samples_per_gpu imgs_per_gpu "
    "micro_batch_size micro_batch device_batch_size mini_batch_size minibatch_size batch_size "
    "train_batch_size train_bs bs bsz batch batchsize batch_sz train_batch",
    "gradient_accumulation": "gradient_accumulation_steps grad_accum_steps grad_accum "
    "gradient_accumulation accumulate_grad_batches accum_iter accumulation_steps "
    "grad_accumulation_steps update_freq accum_steps accumulate_steps grad_acc_steps grad_acc "
    "gradient_accumulate_every accumulation_step grad_accum_every iteration_per_update accumulate "
    "accum accumulation",
    "epochs": "num_train_epochs epochs num_epochs n_epochs max_epochs nepochs n_epoch num_epoch "
    "nepoch total_epochs train_epochs training_epochs max_epoch train_epoch total_epoch "
    "epochs_num epoch_num epoch",
    "max_steps": "max_steps max_train_steps max_iters num_iterations train_iters total_steps "
    "num_train_steps train_steps num_steps iterations num_iters n_iters total_iters max_iter "
    "training_steps n_steps iters steps max_iterations num_training_steps max_updates max_update "
    "num_updates total_updates train_updates total_iterations train_iterations "
    "training_iterations max_step total_timesteps total_env_steps num_env_steps",
    "optimizer": "optimizer optim opt optimizer_name optimizer_type",
    "learning_rate": "learning_rate lr base_lr max_lr init_lr peak_lr base_learning_rate "
    "initial_learning_rate initial_lr learningrate max_learning_rate lr_init lr0 blr",
    "precision": "precision mixed_precision dtype torch_dtype fp16 bf16 fp8 tf32 half amp use_amp "
    "use_fp16 use_bf16",
    "parallelism": "parallelism strategy fsdp use_fsdp ddp use_ddp horovod zero_stage",
    "checkpoint_dir": "checkpoint_dir ckpt_dir output_dir out_dir save_dir checkpoint_path "
    "ckpt_path save_path outdir checkpoints_dir default_root_dir",
    "checkpoint_every": "save_steps save_every checkpoint_every save_interval ckpt_interval "
    "checkpoint_interval checkpoint_freq save_freq checkpoint_steps ckpt_every save_every_n_steps "
    "checkpointing_steps checkpoint_every_steps checkpoint_every_n_steps save_every_steps "
    "save_checkpoint_steps save_checkpoint_every save_checkpoint_freq save_checkpoints_steps "
    "checkpoint_frequency save_frequency save_period ckpt_freq ckpt_steps save_every_n_epochs "
    "save_every_epochs save_epoch_freq snapshot_interval snapshot_freq save_model_every",
    "resumes": "resume auto_resume resume_from_checkpoint resume_from resume_training",
    "log_files": "log_file logfile log_path log_filename",
    "early_stopping": "early_stopping_rounds early_stopping_round early_stopping_patience "
    "early_stop_patience early_stopping early_stop use_early_stopping do_early_stopping "
    "earlystopping es_patience n_iter_no_change patience",
}
_FIELDS: dict[str, tuple[str, int]] = {
    name: (field, rank)
    for field, names in _NAMES.items()
    for rank, name in enumerate(names.split())
}
_AS_OPTIONS_ONLY = words(
    "model net network arch architecture backbone data data_dir data_path data_root train_dir dim "
    "depth heads layers steps iters iterations n_steps num_steps batch bs opt optim half amp "
    "dtype precision strategy resume patience hidden_dim hidden_size embed_dim num_layers "
    "num_heads max_length layers save_path save_dir output_dir checkpoint_path ckpt_path "
    "total_steps log_path dataset max_iter task_name dataset_names datasets corpus train_data "
    "train_data_path train_data_dir training_data data_prefix dataset_root dataset_file train_file "
    "train_files data_file data_files train_path csv_file train_csv csv_path train_csv_path "
    "data_csv train_json train_list emb_dim embed_size embedding_size hidden_channels "
    "encoder_layers enc_layers num_encoder_layers encoder_attention_heads attention_heads vocab "
    "max_len maxlen seq train_batch accumulate "
    "accum accumulation epoch epoch_num max_step max_update max_updates num_updates blr lr0 "
    "max_source_length"
)
"""Too common to mean anything but as a setting of the whole job."""
_PARENTED = {
    ("model", "name"): "model",
    ("model", "type"): "model",
    ("model", "arch"): "model",
    ("model", "path"): "model",
    ("model", "id"): "model",
    ("model", "pretrained"): "model",
    ("dataset", "name"): "dataset",
    ("dataset", "path"): "dataset",
    ("dataset", "id"): "dataset",
    ("data", "path"): "dataset",
    ("data", "root"): "dataset",
    ("dataset", "root"): "dataset",
    ("dataset", "dir"): "dataset",
    ("data", "name"): "dataset",
    ("data", "dataset"): "dataset",
    ("optimizer", "name"): "optimizer",
    ("optimizer", "type"): "optimizer",
    ("optimizer", "_target_"): "optimizer",
    ("optimizer", "class_path"): "optimizer",
    ("optim", "name"): "optimizer",
    ("optim", "type"): "optimizer",
    ("checkpoint", "dir"): "checkpoint_dir",
    ("checkpoint", "folder"): "checkpoint_dir",
    ("checkpoint", "interval"): "checkpoint_every",
    ("checkpoint", "every"): "checkpoint_every",
    ("early_stopping", "patience"): "early_stopping",
}
_HOW_GOOD = {"name": -1, "type": 1}
_OF_THE_TRAINING = words(
    "train trainer training args config cfg conf hparams params hp hyperparameters model net "
    "data dataset dataloader datamodule loader train_dataloader train_loader optim optimizer "
    "solver run main experiment exp general common default settings lm lightning_module arch "
    "architecture transformer encoder llm strategy fabric schedule checkpoint"
)
_OF_OTHERS = words(
    "eval evaluation val valid validation test testing infer inference generate generation "
    "sample sampling scheduler lr_scheduler warmup teacher discriminator ema logging logger log "
    "wandb profiler profile tokenizer vae critic decay reward_model ref reference env envs "
    "env_runner environment rollout netd netd_params disc disc_params discriminator_params"
)


def field_of(name: str) -> tuple[str, int] | None:
    """The field that an option's name stands for, and how good a name for it that is."""
    parts = [part for part in re.split(r"[./]", name.strip("-+").replace("-", "_").lower()) if part]
    if not parts or _OF_OTHERS & {*parts[:-1]}:
        return None
    if len(parts) > 1 and (parts[-2], parts[-1]) in _PARENTED:
        return _PARENTED[parts[-2], parts[-1]], _HOW_GOOD.get(parts[-1], 0)
    last = parts[-1]
    if last in _AS_OPTIONS_ONLY and not _OF_THE_TRAINING.issuperset(parts[:-1]):
        return None
    whole = "_".join(parts)
    return _FIELDS.get(whole) or _FIELDS.get(last) or _cap(whole) or _cap(last)


def is_telling(name: str, *, setting: bool = False) -> bool:
    """Whether a mere name in the code says what it is; a `setting` is one at the top of it."""
    word = last_part(name)
    if word in _AS_OPTIONS_ONLY and not setting:
        return False
    return word in _FIELDS or cap_name(word) is not None


def is_of_others(name: str) -> bool:
    """Whether settings under that name are not the training's: `generation_config`, also as
    `GenerationConfig`."""
    parts = {*_CAPITAL.sub("_", name).lower().split("_"), *name.lower().split("_")}
    return not _OF_OTHERS.isdisjoint(parts)


def _cap(name: str) -> tuple[str, int] | None:
    found = cap_name(name)
    return None if found is None else ("max_time_s", found.rank)
