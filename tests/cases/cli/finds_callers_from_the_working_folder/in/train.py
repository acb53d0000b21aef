from pkg.config import Config
from pkg.mlp import MLP


def build(size):
    config = Config(size=size)
    return MLP(config)
