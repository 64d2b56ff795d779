from pathlib import Path

from pydantic import BaseModel, Field
from pydantic_settings import BaseSettings, SettingsConfigDict


class Optim(BaseModel):
    lr: float = 1e-3
    betas: tuple[float, float] = (0.9, 0.98)
    clip: float = 1.0


class Model(BaseModel):
    width: int = 256
    layers: int = 5
    heads: int = 4
    mels: int = 80


class Settings(BaseSettings):
    model_config = SettingsConfigDict(env_prefix="TTS_", env_nested_delimiter="__")

    corpus: Path
    out: Path = Path("out")
    batch_size: int = Field(16, gt=0, description="utterances per step")
    valid_batch_size: int = 4
    accumulate: int = 2
    steps: int = 180_000
    save_every: int = 5_000
    sample_every: int = 10_000
    optim: Optim = Optim()
    model: Model = Model()
