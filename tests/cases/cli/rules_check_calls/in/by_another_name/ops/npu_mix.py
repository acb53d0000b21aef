operator = "npu_mix"
schema = "npu_mix(Tensor input, Tensor other, float scale=1.0, *, bool fast) -> Tensor"
autograd = "differentiable"
