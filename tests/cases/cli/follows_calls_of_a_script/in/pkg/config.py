from dataclasses import dataclass


@dataclass
class Config:
    size: int = 8
    inner: int = 16
    act: str = "silu"
