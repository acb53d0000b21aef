import torch
import torch_npu


def a_method(x, w):
    y = torch_npu.npu_rms_norm(x, w)
    return y.to(x.dtype)


def a_product(x, w):
    return torch_npu.npu_rms_norm(x, w) * 2.0


def a_sum(x, w, y):
    normed = torch_npu.npu_rms_norm(x, w)
    return y + normed


def unknown_method(x, w):
    return torch_npu.npu_rms_norm(x, w).npu()


def both(x, w):
    y = torch_npu.npu_rms_norm(x, w)
    return y.float() + y[1]


def old_value(q, k, cos, sin):
    q_embed, k_embed = torch_npu.npu_apply_rotary_pos_emb(q, k, cos, sin)
    return q_embed, k_embed, q.norm()


# ---- these are right ----

def indexed(x, w):
    y, rstd = torch_npu.npu_rms_norm(x, w)
    return y.to(x.dtype) + torch_npu.npu_rms_norm(x, w)[0] * 2.0 + rstd


def a_tuple(x, w):
    both = torch_npu.npu_rms_norm(x, w) + (x,)
    return torch.cat(torch_npu.npu_rms_norm(x, w)), both, (1,) + torch_npu.npu_rms_norm(x, w)


def asked(x, w):
    y = torch_npu.npu_rms_norm(x, w)
    if isinstance(y, torch.Tensor):
        return y.contiguous()
    return y[0]


def one_result(x):
    return torch_npu.npu_swiglu(x).to(x.dtype) * 2.0


def counted(x, w):
    return torch_npu.npu_rms_norm(x, w).count(x)


def new_names(q, k, cos, sin):
    q, k = torch_npu.npu_apply_rotary_pos_emb(q, k, cos, sin)
    return q @ k


def on_purpose(q, k, cos, sin):
    torch_npu.npu_apply_rotary_pos_emb(q, k, cos, sin)
    return q @ k


def shape_only(q, k, cos, sin):
    a, b = torch_npu.npu_apply_rotary_pos_emb(q, k, cos, sin)
    return a.view(q.shape), b.to(k.dtype)


def other_branch(q, k, cos, sin, fused):
    if fused:
        a, b = torch_npu.npu_apply_rotary_pos_emb(q, k, cos, sin)
        return a, b
    else:
        return q * cos, k * sin


def left_before(q, k, cos, sin, fused):
    if fused:
        return torch_npu.npu_apply_rotary_pos_emb(q, k, cos, sin)
    return q * cos, k * sin


def a_copy(q, k, cos, sin):
    a, b = torch_npu.npu_apply_rotary_pos_emb(q.clone(), k.clone(), cos, sin)
    return a - q, b - k


def a_list(x, w, ends):
    y = torch_npu.npu_grouped_matmul([x], [w], group_list=ends, split_item=2, group_type=0)
    return y.view(-1, 2)


def a_list_joined(x, w, ends):
    y = torch_npu.npu_grouped_matmul([x], [w], group_list=ends, split_item=0, group_type=-1)
    y.append(x)
    return torch.cat(y), y + [x]


def a_number_is_added(x, gamma):
    return torch_npu.npu_rms_norm(x, gamma) + 1


def repeated_as_a_tuple_is(x, gamma):
    return torch_npu.npu_rms_norm(x, gamma) * 2
