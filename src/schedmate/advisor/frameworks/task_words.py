"""Words that tell a job's task: of settings, classes, libraries, data sets, models, file names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from schedmate.advisor.frameworks.index import SIGNS

_MAX_TEXT = 200
_CAPITAL = re.compile(r"(?<=[A-Za-z])(?=[A-Z][a-z])")
_START, _END = r"(?:^|[^a-z])(?:", r")"


def _table(rows: Mapping[str, str]) -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((task, re.compile(_START + words + _END)) for task, words in rows.items())


_STATED = _table(
    {
        "translation": r"translat",
        "summarization": r"summari",
        "language_modeling": r"causal.?lm|language.?model|lm$|clm|mlm|sft|pre-?train|"
        r"text.?generation",
        "sequence_classification": r"seq(?:uence)?.?cl|text.?classif|sentiment|glue|mnli|sst|cola",
        "image_classification": r"image.?classif|classify$|vision.?classif",
        "object_detection": r"detect|object.?det",
        "segmentation": r"segment|semantic.?seg|instance.?seg",
        "speech": r"speech|asr|audio|tts",
        "graph": r"node.?(?:cl|pred)|link.?pred|graph",
        "reinforcement_learning": r"reinforcement",
        "recommendation": r"recommend|ctr$",
    }
)
_DATASETS = _table(
    {
        "segmentation": r"segmentation$|cityscapes|ade.?20k|camvid|carvana|kits19|kits21|brats|"
        r"duts|isic|panoptic|oxford.?iiit.?pet.?seg|vaihingen|mapillary|coco.?stuff|nyu",
        "image_classification": r"imagenet|cifar|mnist|fashion.?mnist|emnist|kmnist|svhn|stl10|"
        r"food101|flowers|caltech|places365|tiny.?imagenet|stanford.?cars|"
        r"fgvc|cats.{0,5}dogs|eurosat|beans$|dogs|inaturalist|ilsvrc|in1k",
        "object_detection": r"coco|voc(?!a)|objects365|open.?images|visdrone|crowdhuman|widerface",
        "language_modeling": r"wikitext|openwebtext|c4|pile|slimpajama|redpajama|fineweb|"
        r"shakespeare|enwik|text8|ptb|penn.?tree|tiny.?stories|bookcorpus|oscar|starcoder|"
        r"the.?stack|alpaca|dolly|oasst|openassistant|sharegpt|ultrachat|guanaco|openorca|lm1b|hh.?rlhf|gsm8k|"
        r"orca|dolma|wikipedia|lambada|gutenberg|code.?parrot",
        "sequence_classification": r"glue|mrpc|sst.?2|imdb|yelp|ag.?news|mnli|cola$|qqp|rotten|"
        r"tweet.?eval|amazon.?polarity|dbpedia|newsgroup|emotion|reuters|boolq|stsb|snli",
        "translation": r"wmt|iwslt|opus|flores|multi30k|kde4|ted.?hrlr|europarl|spa.?eng|tatoeba",
        "summarization": r"cnn.?daily|xsum|samsum|billsum|gigaword|multi.?news|dialogsum|"
        r"wiki.?how|scitldr|reddit.?tifu|booksum",
        "speech": r"libri|ljspeech|common.?voice|timit|speech.?commands|voxceleb|vctk|tedlium|"
        r"minds14|aishell|audioset|urbansound|esc.?50|fleurs",
        "recommendation": r"movielens|ml-\d|criteo|avazu|taobao|gowalla|yoochoose|amazon.?books",
        "graph": r"ogb|cora|citeseer|pubmed|reddit$|qm9|zinc|proteins$|planetoid|mutag|md17|oc20",
        "tabular": r"higgs|titanic|adult$|california|boston|iris$|breast.?cancer|covtype|covertype|"
        r"wine|creditcard|diabetes$|airline|agaricus|house.?pric",
        "reinforcement_learning": r"atari|mujoco|gym|cartpole|halfcheetah|lunarlander|pendulum|"
        r"d4rl|minigrid|procgen",
    }
)
_MODELS = _table(
    {
        "diffusion": r"\w{0,20}diffusion|diffuser|ddpm|dpm(?![a-z])|ddim|dit$|dit[-_/]|sdxl|flux|"
        r"unet2d|score.?sde|edm",
        "gan": r"\w{0,12}gan$|\w{0,12}gan[-_v\d]|pix2pix",
        "language_modeling": r"\w{0,6}gpt|\w{0,6}llama|mistral|mixtral|qwen|gemma|phi-?\d|pythia|"
        r"opt-\d|bloom|falcon|mamba|rwkv|transformer.?lm|transformer.?xl|olmo|smollm|deepseek|"
        r"language.?model|bigram",
        "object_detection": r"yolo|faster.?rcnn|retinanet|ssd|\w{0,12}detr|fcos|efficientdet|"
        r"centernet|mask.?rcnn",
        "segmentation": r"\w{0,4}unet|deeplab|fcn|bisenet|panoptic|segformer|psp.?net|maskformer|"
        r"linknet|segnet|"
        r"sam(?![a-z])|segment|\w{0,20}part.?seg|seg$",
        "image_classification": r"\w{0,5}resnet|resnext|vgg|densenet|mobilenet|efficientnet|"
        r"convnext|\w{0,4}vit(?![a-rt-z])|deit|swin|regnet|inception|alexnet|lenet|\w{0,4}mixer|squeezenet|shufflenet|"
        r"wrn|nfnet|xception|vision.?transformer|cct$|poolformer",
        "speech": r"whisper|wav2vec|hubert|wavlm|conformer|deepspeech|tacotron|fastspeech|vits|"
        r"jasper|quartznet|rnn.?t$|wavenet|wave.?glow|hifi",
        "recommendation": r"dlrm|ncf$|neumf|deepfm|wide.{0,3}deep|dcn|sasrec|bert4rec|lightgcn|"
        r"two.?tower",
        "graph": r"gcn|gat$|gatv2|graph|gin$|rgcn|gnn|schnet|egnn|\w{0,10}gnn",
        "translation": r"marian|nllb|m2m100|opus.?mt",
        "summarization": r"pegasus",
        "reinforcement_learning": r"ppo|dqn|a2c|a3c|sac$|td3|ddpg|trpo|actor.?critic|qnetwork",
    }
)
_FILES = _table(
    {
        "translation": r"translat|nmt(?![a-z])",
        "summarization": r"summari",
        "language_modeling": r"language.?model|run_[cm]lm|\w{0,6}gpt|\w{0,6}llama|sft|"
        r"pretrain_(?:gpt|bert)|lm1b|word.?language",
        "sequence_classification": r"text.?classif|run_glue|sentiment|sequence.?classif",
        "object_detection": r"object.?detect|detection/|yolo|retinanet|faster.?rcnn|detector|detr",
        "segmentation": r"segment|panoptic|\w{0,4}unet|deeplab",
        "image_classification": r"image.?classif|imagenet|cifar|mnist",
        "speech": r"speech|asr|tts|audio",
        "gan": r"\w{0,8}gan(?:[_./]|$)",
        "diffusion": r"diffusion|ddpm|ddim|text_to_image|dreambooth",
        "reinforcement_learning": r"ppo|dqn|reinforcement|ddpg|sac_|td3|a2c|actor.?critic|deep_q",
        "recommendation": r"recommend|dlrm|collaborative",
        "graph": r"gnn|gcn|graph",
        "tabular": r"tabular|structured_data",
        "other": r"keypoint|pose_|depth_|caption|super.?res|forecast|anomaly|ocr|nerf|"
        r"style.?transfer|neural.?style|denois",
    }
)
_NOISE = tuple(row for row in _MODELS if row[0] in ("diffusion", "gan"))
_KINDS = {
    "noise": _NOISE,
    "stated": _STATED,
    "dataset": _DATASETS,
    "model": _MODELS,
    "file": _FILES,
}
CLASSES = (
    ("diffusion", re.compile(r"^diffusers\..*(?:DDPM|DDIM|Scheduler|UNet2D)|GaussianDiffusion")),
    (
        "speech",
        re.compile(r"For(?:CTC|SpeechSeq2Seq|AudioClassif)|Whisper\w{0,30}For|Speech\w{0,30}Model"),
    ),
    ("language_modeling", re.compile(r"CausalLM|LMHeadModel|ForMaskedLM|BertForPreTraining")),
    ("language_modeling", re.compile(r"^trl\.|FastLanguageModel")),
    ("sequence_classification", re.compile(r"For(?:SequenceClassification|MultipleChoice)")),
    ("other", re.compile(r"For(?:TokenClassification|QuestionAnswering)")),
    ("image_classification", re.compile(r"ForImageClassification")),
    ("object_detection", re.compile(r"ForObjectDetection|torchvision\.models\.detection")),
    ("segmentation", re.compile(r"For\w{0,30}Segmentation|torchvision\.models\.segmentation")),
)
_HELPERS = {
    "reinforcement_learning": "gym gymnasium tianshou envpool torchrl pettingzoo brax dm_control "
    "acme dopamine",
    "graph": "torch_geometric dgl ogb spektral jraph",
    "segmentation": "segmentation_models_pytorch segmentation_models monai mmseg nnunet nnunetv2",
    "object_detection": "mmdet effdet",
    "tabular": "sklearn.ensemble pytorch_tabnet",
    "speech": "speechbrain torchaudio nemo.collections.asr espnet espnet2",
    "recommendation": "torchrec recbole tensorflow_recommenders keras_rs",
    "diffusion": "diffusers",
}
"""Libraries that train nothing themselves, and what they are used for."""
LIBRARIES = tuple(
    (
        task,
        (
            *names.split(),
            *(each for signs in SIGNS if signs.task == task for each in signs.imported_as),
        ),
    )
    for task, names in _HELPERS.items()
)


def tasks_in(kind: str, text: str) -> Iterator[str]:
    """Tasks that a setting's value ("stated"), a "dataset", a "model" or a "file" speaks of."""
    apart = _CAPITAL.sub("_", text[:_MAX_TEXT])
    words = f"{text[:_MAX_TEXT]} {apart}".lower()
    return (task for task, pattern in _KINDS[kind] if pattern.search(words))
