"""A script without a function."""
from pkg.config import Config
from pkg.mlp import MLP

model = MLP(Config())
