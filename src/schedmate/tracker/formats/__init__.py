"""Formats in order of specificity. To add one: a file beside this one, and a line in `FORMATS`."""

from __future__ import annotations

from schedmate.tracker.formats.aliveprogress import AliveProgress
from schedmate.tracker.formats.base import LineFormat, Sample, Sighting
from schedmate.tracker.formats.boxtable import BoxTable
from schedmate.tracker.formats.catboost import CatBoost
from schedmate.tracker.formats.checkpoints import Checkpoints
from schedmate.tracker.formats.clu import Clu
from schedmate.tracker.formats.composer import Composer
from schedmate.tracker.formats.darknet import Darknet
from schedmate.tracker.formats.deepspeed import DeepSpeed
from schedmate.tracker.formats.detectron2 import Detectron2
from schedmate.tracker.formats.dllogger import DLLogger
from schedmate.tracker.formats.dreamer import Dreamer
from schedmate.tracker.formats.espnet import EspNet
from schedmate.tracker.formats.estimator import Estimator
from schedmate.tracker.formats.evaluations import Evaluations
from schedmate.tracker.formats.fairseq import Fairseq
from schedmate.tracker.formats.jsonlines import JsonLines
from schedmate.tracker.formats.keras import Keras
from schedmate.tracker.formats.keyvalue import KeyValue
from schedmate.tracker.formats.lightgbm import LightGBM
from schedmate.tracker.formats.lightning import Lightning
from schedmate.tracker.formats.links import Links
from schedmate.tracker.formats.maxtext import MaxText
from schedmate.tracker.formats.megatron import Megatron
from schedmate.tracker.formats.mlperf import MlPerf
from schedmate.tracker.formats.mlperf_early import MlPerfEarly
from schedmate.tracker.formats.mmengine import MMEngine
from schedmate.tracker.formats.nanogpt import NanoGpt
from schedmate.tracker.formats.nemo import NeMo
from schedmate.tracker.formats.paddle import Paddle
from schedmate.tracker.formats.parts import Parts
from schedmate.tracker.formats.ray import Ray
from schedmate.tracker.formats.richbars import RichBars
from schedmate.tracker.formats.settings import Settings
from schedmate.tracker.formats.stablebaselines import StableBaselines
from schedmate.tracker.formats.stops import Stops
from schedmate.tracker.formats.stylegan import StyleGan
from schedmate.tracker.formats.things_to_do import ThingsToDo
from schedmate.tracker.formats.timm import Timm
from schedmate.tracker.formats.torchtitan import TorchTitan
from schedmate.tracker.formats.torchtune import TorchTune
from schedmate.tracker.formats.torchvision import TorchVision
from schedmate.tracker.formats.tqdm import Tqdm
from schedmate.tracker.formats.transformers import Transformers
from schedmate.tracker.formats.ultralytics import Ultralytics
from schedmate.tracker.formats.unit_tests import UnitTests
from schedmate.tracker.formats.xgboost import XGBoost

FORMATS: tuple[LineFormat, ...] = (
    MlPerf(),
    MlPerfEarly(),
    Megatron(),
    NeMo(),
    Fairseq(),
    MMEngine(),
    Detectron2(),
    TorchVision(),
    Ultralytics(),
    Timm(),
    DLLogger(),
    NanoGpt(),
    TorchTitan(),
    TorchTune(),
    Composer(),
    MaxText(),
    Clu(),
    Paddle(),
    Ray(),
    Transformers(),
    DeepSpeed(),
    Lightning(),
    Keras(),
    XGBoost(),
    LightGBM(),
    CatBoost(),
    StableBaselines(),
    BoxTable(),
    Darknet(),
    StyleGan(),
    EspNet(),
    Dreamer(),
    Estimator(),
    UnitTests(),
    Tqdm(),
    RichBars(),
    AliveProgress(),
    JsonLines(),
    Links(),
    Stops(),
    Parts(),
    KeyValue(),
    Checkpoints(),
    Evaluations(),
    Settings(),
    ThingsToDo(),
)

__all__ = ["FORMATS", "LineFormat", "Sample", "Sighting"]
