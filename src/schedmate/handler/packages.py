"""Under which name a missing module is installed."""

from __future__ import annotations

import re
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
_OWN: Final = re.compile(
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
    if _OWN.fullmatch(top):
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
