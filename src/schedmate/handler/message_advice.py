"""Advice from the evidence line itself: names, paths, shapes, numbers.

What is taken from a log is data: cut, printable and quoted.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

_INSTALLED_AS: Final = {
    "Bio": "biopython",
    "Crypto": "pycryptodome",
    "MinkowskiEngine": "",
    "OpenSSL": "pyOpenSSL",
    "PIL": "pillow",
    "_lzma": "",
    "_sqlite3": "",
    "apex": "",
    "attr": "attrs",
    "bs4": "beautifulsoup4",
    "cv2": "opencv-python",
    "dateutil": "python-dateutil",
    "detectron2": "",
    "docx": "python-docx",
    "dotenv": "python-dotenv",
    "faiss": "faiss-cpu",
    "fitz": "pymupdf",
    "git": "gitpython",
    "google.cloud.storage": "google-cloud-storage",
    "google.protobuf": "protobuf",
    "hydra": "hydra-core",
    "imblearn": "imbalanced-learn",
    "jwt": "pyjwt",
    "lightning_fabric": "lightning",
    "magic": "python-magic",
    "pkg_resources": "setuptools",
    "ruamel": "ruamel.yaml",
    "serial": "pyserial",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "umap": "umap-learn",
    "usb": "pyusb",
    "yaml": "pyyaml",
    "zmq": "pyzmq",
}
"""Empty: not on the package index under any name, or a part of Python itself."""
_OWN_MODULES: Final = re.compile(
    r"(?:api|app|args|common|configs?|core|data|dataloaders?|dataset|engine|experiments|helpers?|lib"
    r"|loss|losses|main|models?|modules|networks?|options|project|scripts|settings|solver|src|tests?"
    r"|tools|train|trainers?|training|utils?)"
)
"""Names that jobs give to their own files."""
_NAME = re.compile(r"[A-Za-z_]\w{0,60}(?:\.[A-Za-z_]\w{0,60}){0,8}")
_PLACE: Final = "in the environment that the job activates"


def how_to_install(module: str) -> str:
    """What to do about a module that cannot be found; empty if that is no module's name."""
    if not _NAME.fullmatch(module):
        return ""
    top, _, rest = module.partition(".")
    if _OWN_MODULES.fullmatch(top):
        return (
            f"'{module}' looks like the job's own file: start in its directory or put that on "
            "PYTHONPATH"
        )
    package = _INSTALLED_AS.get(module, _INSTALLED_AS.get(top, top.replace("_", "-")))
    if not package:
        return f"build or install '{top}' {_PLACE}; pip does not know it by that name"
    if rest and module not in _INSTALLED_AS:
        return f"pip install {package} {_PLACE}; if it is there, its version has no '{module}'"
    return f"pip install {package} {_PLACE}"


_LONGEST: Final = 100
_IN_QUOTES = r"['\"`]([^'\"`]{1,300})['\"`]"


def quoted(text: str) -> str:
    """A piece of a log as a person may safely read it."""
    shown = "".join(char for char in text if char.isprintable() and char not in "'`\"")
    return f"'{shown if len(shown) <= _LONGEST else shown[: _LONGEST - 1] + '…'}'"


def advice_from_message(reason: str, message: str) -> str:
    """The advice that this message allows; empty where it has no such detail."""
    reader = _READERS.get(reason)
    return reader(message[:2000]) if reader else ""


def _found(pattern: str, message: str) -> str:
    match = re.search(pattern, message)
    return next((group for group in match.groups() if group), "") if match else ""


def _import(message: str) -> str:
    name = _found(rf"No module named (?:{_IN_QUOTES}|([\w.]{{1,80}}))", message)
    if name:
        return how_to_install(name)
    match = re.search(rf"cannot import name {_IN_QUOTES} from {_IN_QUOTES}", message)
    if match:
        return (
            f"{quoted(match[2])} has no {quoted(match[1])}: install the version that the code "
            "was written for"
        )
    return ""


def _file(message: str) -> str:
    path = _found(rf"(?:directory:?|file|open|load|at|in|path|named) {_IN_QUOTES}", message)
    path = path or _found(r"(?:^|[ '\"])(/[\w./+\-=]{3,300})", message)
    if "valid model identifier" in message or "Repo id must" in message:
        return "check the model's name or path; a private model needs a login"
    if not path:
        return ""
    where = "" if path.startswith("/") else ", which is looked for in the job's directory"
    return f"check the path {quoted(path)}{where}"


def _permission(message: str) -> str:
    path = _found(rf"(?:denied|permitted|system):? {_IN_QUOTES}", message)
    path = path or _found(r"(/[\w./+\-=]{3,300})", message)
    if "Read-only" in message:
        return f"write somewhere else: {quoted(path) if path else 'that place'} is read-only"
    return f"check owner and mode of {quoted(path)}" if path else ""


def _port(message: str) -> str:
    port = _found(r"(?:\]|\)|port|:)[:= ]{1,2}(\d{2,5})\b", message)
    return (
        f"port {port} is taken: choose a free one (--master_port or --rdzv-endpoint with port 0)"
        if port
        else ""
    )


def _shapes(message: str) -> str:
    match = re.search(r"\((\d{1,12})x(\d{1,12}) and (\d{1,12})x(\d{1,12})\)", message)
    if match:
        return f"the layer expects {match[3]} features and is given {match[2]}: make them agree"
    match = re.search(r"tensor a \((\d{1,12})\).{0,60}tensor b \((\d{1,12})\)", message)
    if match:
        return f"a dimension of {match[1]} meets one of {match[2]}: check how both are made"
    match = re.search(r"batch_size \((\d{1,12})\).{0,60}batch_size \((\d{1,12})\)", message)
    if match:
        return f"{match[1]} predictions meet {match[2]} labels: check the reshaping before the loss"
    match = re.search(r"to have (\d{1,9}) channels, but got (\d{1,9})", message)
    if match:
        return f"the layer expects {match[1]} channels and is given {match[2]}: convert the images"
    match = re.search(
        r"(\([\d, None]{1,60}\)|\[[\d, ]{1,60}\]).{1,60}?\1?(\([\d, None]{1,60}\))", message
    )
    return f"{match[1]} and {match[2]} do not fit: check how both are made" if match else ""


def _types(message: str) -> str:
    names = re.findall(
        r"\b(?:c10::|torch\.(?:cuda\.)?)?"
        r"(Float|Half|BFloat16|Double|Long|Int|Bool|Byte|float\d{1,2}|int\d{1,2}|bfloat16)"
        r"(?:Tensor)?\b",
        message,
    )
    distinct = list(dict.fromkeys(names))
    if len(distinct) < 2:  # noqa: PLR2004 - it takes two to differ
        return ""
    return f"{distinct[0]} meets {distinct[1]}: cast one of them or use autocast throughout"


def _devices(message: str) -> str:
    match = re.search(r"\b(c(?:pu|uda:\d{1,3}))\b.{0,30}\b(c(?:pu|uda:\d{1,3}))\b", message)
    if not match or match[1] == match[2]:
        return ""
    return (
        f"one tensor is on {match[1]}, another on {match[2]}: move inputs and model to one device"
    )


def _key(message: str) -> str:
    key = _found(rf"KeyError: {_IN_QUOTES}", message)
    return f"look for the key {quoted(key)} in the config or the data" if key else ""


def _name(message: str) -> str:
    name = _found(rf"name {_IN_QUOTES} is not defined|variable {_IN_QUOTES}", message)
    return f"define or import {quoted(name)} before the named line" if name else ""


def _attribute(message: str) -> str:
    match = re.search(
        rf"(?:module|type object)? ?{_IN_QUOTES}.{{0,20}} has no attribute {_IN_QUOTES}", message
    )
    if not match:
        return ""
    if match[1] == "NoneType":
        return f"something is None where an object with {quoted(match[2])} is expected"
    if "module" in message:
        return (
            f"{quoted(match[1])} has no {quoted(match[2])}: install the version that the code was "
            "written for"
        )
    return ""


def _call(message: str) -> str:
    name = _found(rf"unexpected keyword argument {_IN_QUOTES}", message)
    if name:
        return f"drop the argument {quoted(name)}, or install a version that takes it"
    name = _found(
        rf"missing \d{{1,3}} required (?:positional|keyword-only) arguments?: {_IN_QUOTES}", message
    )
    return f"give the argument {quoted(name)} at the named line" if name else ""


_SUPERFLUOUS = r"(?:unrecognized arguments?|No such option|Could not consume arg): ?(\S{1,80})"
_LACKING = r"arguments are required: (.{1,120})|Missing (?:option|argument) (\S{1,80})"
_CONFIGURED = r"[Kk]ey '([^']{1,80})' (?:is )?not in|Missing mandatory value: (\S{1,80})"


def _argument(message: str) -> str:
    if name := _found(_SUPERFLUOUS, message):
        return f"remove or correct {quoted(name)}; --help lists what is accepted"
    if name := _found(_LACKING, message):
        return f"give {quoted(name.rstrip('.'))} as well"
    name = _found(_CONFIGURED, message)
    return f"check the config for {quoted(name)}" if name else ""


def _command(message: str) -> str:
    name = _found(r"([\w.+\-/]{1,80}): (?:command )?not found|directory: '([^']{1,120})'", message)
    return f"load the module or activate the environment that has {quoted(name)}" if name else ""


_SERVICES: Final = {
    r"hugging ?face|hf\.co|[Gg]ated|HF_TOKEN": (
        "set HF_TOKEN or run `hf auth login`, and accept the model's terms on its page if gated"
    ),
    r"wandb|WANDB": (
        "set WANDB_API_KEY or run `wandb login`; with WANDB_MODE=offline it needs neither"
    ),
    r"comet|COMET": "set COMET_API_KEY",
    r"[Nn]eptune|NEPTUNE": "set NEPTUNE_API_TOKEN",
    r"boto|aws|AWS|S3|s3:|ExpiredToken|AccessDenied|InvalidAccessKeyId|SSO": (
        "renew the AWS credentials of the job and check what its role may do"
    ),
    r"google|gcloud|GCS|gs:|DefaultCredentials": (
        "set GOOGLE_APPLICATION_CREDENTIALS or run `gcloud auth application-default login`"
    ),
    r"azure|Azure|blob": "renew the Azure credentials of the job",
    r"publickey|git@": "give the job an SSH key that the server knows",
    r"github|gitlab": "give the job a token for that repository",
    r"docker|nvcr|registry": "log in to the image registry before the job starts",
    r"openai|OPENAI": "set OPENAI_API_KEY",
}


def _service(message: str) -> str:
    return next((advice for words, advice in _SERVICES.items() if re.search(words, message)), "")


def _sample(message: str) -> str:
    name = _found(r"['\"`]([^'\"`]{1,200}\.\w{2,10})['\"`]", message)
    if name:
        return f"check {quoted(name)}, and skip or mend samples that cannot be read"
    if re.search(r"num_samples=0|\b(?:0|no) (?:samples|images|files|labels)|empty", message):
        return "the dataset is empty: check its path, its split and what filters it"
    name = _found(r"Target (-?\d{1,12}) is out of bounds", message)
    return f"a label is {name}: compare the labels with the number of classes" if name else ""


def _index(message: str) -> str:
    if "index out of range in self" in message:
        return "an id is larger than the embedding: compare the tokenizer with the model"
    match = re.search(r"index (-?\d{1,12}) is out of bounds.{0,40}size (\d{1,12})", message)
    return f"index {match[1]} is asked of {match[2]} elements at the named line" if match else ""


_READERS: Final[dict[str, Callable[[str], str]]] = {
    "import_error": _import,
    "file_not_found": _file,
    "permission_denied": _permission,
    "port_conflict": _port,
    "shape_mismatch": _shapes,
    "dtype_mismatch": _types,
    "device_mismatch": _devices,
    "key_error": _key,
    "name_error": _name,
    "attribute_error": _attribute,
    "type_error": _call,
    "argument_error": _argument,
    "command_not_found": _command,
    "auth_error": _service,
    "data_error": _sample,
    "index_error": _index,
}
