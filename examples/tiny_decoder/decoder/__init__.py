"""A small decoder-only language model in plain PyTorch."""
