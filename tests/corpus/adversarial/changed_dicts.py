"""A dict that something changes before its entry is used: what was written is no proof."""
import copy

import torch.nn.functional as F

from elsewhere import change, Change

ACT = {"silu": F.silu, "gelu": F.gelu}


def given_away(x, y):
    options = {"act": "silu"}
    change(options)
    return ACT[options["act"]](x) * y  # expect: swiglu caution


def given_by_keyword(x, y, runner):
    options = {"act": "silu"}
    runner.run(settings=options)
    return ACT[options["act"]](x) * y  # expect: swiglu caution


def held_by_a_block(x, y):
    options = {"act": "silu"}
    with Change(options):
        return ACT[options["act"]](x) * y  # expect: swiglu caution


def entry_deleted(x, y):
    options = {"act": "silu"}
    del options["act"]
    return ACT[options.get("act", "gelu")](x) * y  # expect: swiglu caution


def popped(x, y):
    options = {"act": "silu"}
    options.pop("act")
    return ACT[options.get("act", "gelu")](x) * y  # expect: geglu recommend


def through_keywords(x, y, **options):
    change(options)
    return ACT[options.get("act", "silu")](x) * y  # expect: swiglu caution


def reads_through_keywords(x, y):
    return through_keywords(x, y)


def pick(**options):
    return ACT[options.get("act", "silu")]


def another_is_asked_for(x, y):
    return pick(act="gelu")(x) * y  # clean: it is gelu  # allow: geglu recommend|caution


def default_is_gelu(x, y, **options):
    return choose()(x) * y  # clean: it is gelu  # allow: geglu recommend|caution


def choose(**options):
    return ACT[options.pop("act", "gelu")]


def another_that_is_written_alike(x, y):
    first = {"act": "silu"}
    second = {"act": "silu"}
    second.pop("act")
    return ACT[first.get("act", "gelu")](x) * y  # expect: swiglu recommend|caution


def under_another_name(x, y):
    first = {"act": "silu"}
    second = first
    second.pop("act")
    return ACT[first.get("act", "gelu")](x) * y  # expect: swiglu caution


def a_copy_of_it(x, y):
    first = {"act": "silu"}
    second = copy.deepcopy(first)
    kind = second.pop("act")
    return ACT[second.get("act", "gelu")](x) * ACT[kind](y)  # allow: geglu recommend|caution # allow: swiglu recommend|caution
