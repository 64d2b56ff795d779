"""The name a person would call the data by: a hub id, a well-known name, a telling folder."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from schedmate.advisor.settle.placeholders import is_placeholder
from schedmate.advisor.sources.words import words

_FILE = re.compile(
    r"\.(?:csv|tsv|json|jsonl|parquet|txt|bin|npy|npz|h5|hdf5|tfrecords?|feather|ya?ml|tar|zip|gz|pt|pkl"
    r"|arrow|lmdb|libsvm|svm|idx|mat|zst)$"
)
_SPLIT = re.compile(
    r"(?:train|training|val|valid|validation|test|dev|eval|images?|labels?|annotations?|part)"
    r"[-_]?\d{0,4}|(?:task|fold|set|subset|batch|chunk|shard|round|phase|stage|step)[-_]?\d{1,4}|v\d{1,3}(?:\.\d{1,3}){0,2}",
    re.IGNORECASE,
)
_SAYS_LITTLE = words(
    "data dataset datasets input inputs raw processed preprocessed root home mnt scratch work "
    "tmp gpfs lustre nfs storage shared public local ssd nvme workspace opt content user "
    "users project projects proj corpora corpus cache bucket train_data training_data my path to "
    "your none null "
    "default custom file files folder dir s3 gs rawdata raw_data processed_data prepared "
    "splits features images labels annotations embeddings samples labeled unlabeled csv json "
    "pickle npy npz hdf5 tfrecords interim external build out output outputs results logs "
    "checkpoints ckpt models model save saved pretrain finetune final full all "
    "small large subset split clean grouped merged filtered cleaned combined shuffled sorted "
    "balanced normalized tokenized extracted converted augmented resized cropped dataset_path"
)
_CALLED = {
    "imagenet": "imagenet imagenet1k imagenet-1k imagenet_1k imagenet2012 ilsvrc2012 ilsvrc12 "
    "ilsvrc imagenet-2012 ilsvrc_2012 in1k",
    "cifar10": "cifar10 cifar-10 cifar_10 cifar-10-batches-py",
    "cifar100": "cifar100 cifar-100 cifar_100 cifar-100-python",
    "fashion_mnist": "fashion_mnist fashionmnist fashion-mnist",
    "coco": "coco coco2017 mscoco coco-2017 coco2014 ms-coco ms_coco",
    "voc": "voc voc2012 voc2007 vocdevkit pascal_voc pascalvoc",
    "tiny-imagenet": "tiny-imagenet tiny-imagenet-200 tiny_imagenet tinyimagenet",
    "movielens": "movielens ml-1m ml-20m ml-100k ml-25m",
}
_FAMOUS = re.compile(
    r"(?:multi30k|iwslt|wmt|flores|europarl|librispeech|libritts|ljspeech|commonvoice|timit|vctk"
    r"|voxceleb|musan|wikitext|openwebtext|bookcorpus|fineweb|slimpajama|redpajama|tinystories"
    r"|glue|superglue|squad|mnli|snli|imdb|agnews|conll|ontonotes|mimic|chexpert|brats|isic"
    r"|cityscapes|ade20k|camvid|kitti|nuscenes|waymo|scannet|shapenet|modelnet|movielens|mind"
    r"|amazonreviews|criteo|ogbn?|qm7|qm9|md17|zinc|pcqm|celeba|ffhq|lsun|lsdir|div2k|coco|voc"
    r"|imagenet|cifar|mnist|svhn|stl10|cub|inaturalist|places365|kinetics|ucf101|hmdb51|ava"
    r"|visdrone|objects365|openimages|lvis|laion|cc3m|cc12m|flickr30k|vqa|gqa|era5|weatherbench)"
    r"[a-z]{0,2}\d{0,4}"
)
"""Names that tell wherever they stand in a path, without what parts their words."""
_CALLED_SO = {name: known for known, names in _CALLED.items() for name in names.split()}
_RELEASE = re.compile(r":[\d.*]{1,20}$")
_SCHEME = re.compile(r"^[a-z0-9]{2,10}://")
_ANY_SCHEME = re.compile(r"[a-z0-9]{2,10}://\S{1,1000}")
_INDEXED = re.compile(r"_(?:text|content|text_sentence)(?:_(?:document|sentence))$")
_WINDOWS = re.compile(r"^[A-Za-z]:(?=\\)|(?<=\w)\\(?=\w)|\\{2}")
_PART = re.compile(r"(?<=\w)[-_]0\d{2,7}(?:-of-\d{3,8})?$")
"""`shards_000.npz` is one of many."""
_OF_PEOPLE = words("home users user scratch homes")
_ACCOUNT = re.compile(r"(?:def|rrg|ctb)-\w{1,30}|[A-Za-z]{2,8}[-_]?\d{2,8}")
"""A project that pays: `PAS1585`, `def-supervisor`."""
_PARTS_OF_A_HUB_ID = 2
_LONG = 5
_OF_A_MACHINE = 2
"""`/work/…`: what stands right below the root is a machine's or a container's."""


def dataset_name(text: str) -> str | None:
    """`/data/ImageNet/train` is `imagenet`, `HuggingFaceFW/fineweb` is itself,
    `data/shakespeare/input.txt` is `shakespeare`; None where nothing tells (`./data`)."""
    name = _RELEASE.sub("", _SCHEME.sub("/", _address(text.strip())))
    if _is_hub_id(name):
        return name
    parts = PurePosixPath(name).parts
    famous = next((part for part in reversed(parts) if is_famous(part)), None)
    if famous is not None:
        return _CALLED_SO.get(famous.lower(), famous)
    own = _own_parts(parts)
    for part in reversed(own):
        bare = _PART.sub("", _INDEXED.sub("", _FILE.sub("", _FILE.sub("", part))))
        if _telling(bare):
            return _CALLED_SO.get(bare.lower(), bare)
    in_a_home = len(own) < len(parts[_OF_A_MACHINE:]) and _FILE.search(name) is not None
    return text.strip() if in_a_home or is_placeholder(name) else None


def _own_parts(parts: tuple[str, ...]) -> tuple[str, ...]:
    """Without the machine's directories, and without the person or project whose they are:
    `/fs/scratch/PAS1585/sanchez/…`."""
    if parts[:1] != ("/",):
        return parts
    at = next((at for at, part in enumerate(parts[:4]) if part.lower() in _OF_PEOPLE), None)
    if at is None:
        return parts[_OF_A_MACHINE:]
    if parts[at + 1 : at + 2] and _ACCOUNT.fullmatch(parts[at + 1]):
        return parts[at + 3 :]
    least = 2 if parts[at].lower() == "scratch" else 1
    return parts[max(_OF_A_MACHINE, at + 2 if len(parts) - at - 2 >= least else at + 1) :]


def is_famous(name: str) -> bool:
    return bool(_FAMOUS.fullmatch(re.sub(r"[\W_]", "", name).lower()))


def begins_famously(name: str) -> bool:
    """`ShapeNetPartSeg`; short names begin many a word."""
    found = _FAMOUS.match(re.sub(r"[\W_]", "", name).lower())
    return found is not None and len(found[0]) >= _LONG


def _address(text: str) -> str:
    """Of `pipe:aws s3 cp s3://bucket/laion/{000..231}.tar -` what is fetched, up to what varies;
    of several that are joined the first."""
    found = _ANY_SCHEME.search(text) if text.startswith("pipe:") else None
    whole = _WINDOWS.sub("/", text) if found is None else found[0]
    return whole.partition("::")[0].partition("{")[0]


def _is_hub_id(name: str) -> bool:
    parts = name.split("/")
    return (
        len(parts) == _PARTS_OF_A_HUB_ID
        and all(_telling(part) for part in parts)
        and not name.startswith((".", "~", "/", "$"))
        and not _FILE.search(name)
    )


def _telling(bare: str) -> bool:
    return (
        bare.lower() not in _SAYS_LITTLE
        and not _SPLIT.fullmatch(bare)
        and not _prepared_split(bare.lower())
        and any(letter.isalpha() for letter in bare)
        and not set(bare) & set("{}$*~")
    )


def _prepared_split(bare: str) -> bool:
    """`train_cropped_augmented`: a split, and what was done to it."""
    first, *others = re.split(r"[-_]", bare)
    return bool(others) and _SPLIT.fullmatch(first) is not None and _SAYS_LITTLE.issuperset(others)
