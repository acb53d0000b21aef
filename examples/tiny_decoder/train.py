"""Trains the tiny decoder on a text, one printed line a step.

    python train.py --steps 60
"""
import argparse
import json
import os
import time

import torch

from decoder.config import ModelConfig
from decoder.data import CharacterData
from decoder.model import Decoder

HERE = os.path.dirname(os.path.abspath(__file__))


def parse_args(argv=None):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    run = parser.add_argument_group("run")
    run.add_argument("--steps", type=int, default=60)
    run.add_argument("--batch-size", type=int, default=16)
    run.add_argument("--sequence-length", type=int, default=64)
    run.add_argument("--lr", type=float, default=3e-3)
    run.add_argument("--warmup-steps", type=int, default=5)
    run.add_argument("--seed", type=int, default=1)
    run.add_argument("--dtype", choices=["float32", "bfloat16"],
                     default="float32", help="bfloat16 runs under autocast")
    run.add_argument("--device", choices=["auto", "cpu", "cuda", "npu"],
                     default="auto")
    run.add_argument("--threads", type=int, default=1,
                     help="of the CPU; a model this small needs no more")
    run.add_argument("--corpus", default=os.path.join(HERE, "corpus.txt"))
    run.add_argument("--log", metavar="FILE", help="also write JSON lines")
    model = parser.add_argument_group("model")
    model.add_argument("--hidden-size", type=int, default=64)
    model.add_argument("--num-layers", type=int, default=2)
    model.add_argument("--num-experts", type=int, default=4)
    model.add_argument("--hidden-act", choices=["silu", "gelu"], default="silu")
    model.add_argument("--use-fused-rmsnorm", action="store_true",
                       help="use the fused normalisation kernel")
    return parser.parse_args(argv)


def choose_device(name):
    if name != "auto":
        return torch.device(name)
    for candidate in ("npu", "cuda"):
        backend = getattr(torch, candidate, None)
        if backend is not None and backend.is_available():
            return torch.device(candidate)
    return torch.device("cpu")


def build_model(args, vocab_size):
    config = ModelConfig(
        vocab_size=vocab_size,
        hidden_size=args.hidden_size,
        num_layers=args.num_layers,
        num_experts=args.num_experts,
        hidden_act=args.hidden_act,
        max_positions=args.sequence_length,
        use_fused_rmsnorm=args.use_fused_rmsnorm,
    )
    return Decoder(config)


def learning_rate(args, step):
    """Rises over the warm-up, then stays."""
    return args.lr * min(1.0, step / max(1, args.warmup_steps))


def synchronize(device):
    if device.type != "cpu":
        getattr(torch, device.type).synchronize()


def train_step(model, optimizer, batch, args, device):
    tokens, targets = (t.to(device) for t in batch)
    half = args.dtype != "float32"
    with torch.autocast(device.type, dtype=torch.bfloat16, enabled=half):
        loss = model(tokens, targets)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return loss.item()


def train(args):
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    torch.use_deterministic_algorithms(True)
    device = choose_device(args.device)
    data = CharacterData(args.corpus, args.seed)
    model = build_model(args, len(data.vocabulary)).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    log = open(args.log, "w", encoding="utf-8") if args.log else None
    for step in range(1, args.steps + 1):
        optimizer.param_groups[0]["lr"] = learning_rate(args, step)
        batch = data.batch(args.batch_size, args.sequence_length)
        synchronize(device)
        start = time.perf_counter()
        loss = train_step(model, optimizer, batch, args, device)
        synchronize(device)
        ms = (time.perf_counter() - start) * 1e3
        line = f"step {step} | loss {loss:.6f} | step_time_ms {ms:.2f}"
        print(line, flush=True)
        if log:
            record = {"step": step, "loss": loss, "step_time_ms": ms}
            log.write(json.dumps(record) + "\n")
    if log:
        log.close()


if __name__ == "__main__":
    train(parse_args())
