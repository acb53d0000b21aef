# A library with the strings that a real one has; nothing of it ever runs.
mkdir -p site/torch_npu/lib site/torch_npu-2.13.0.dist-info
printf 'Version: 2.13.0\n' > site/torch_npu-2.13.0.dist-info/METADATA
cat > lib.c <<'C'
const char *const texts[] = {
    "npu_scale_add(Tensor input, Tensor other, *, float scale=1.0) -> (Tensor, Tensor)",
    "npu_scale_add.out(Tensor input, Tensor other, *, Tensor(a!) out) -> Tensor(a!)",
    "npu_only_registered(Tensor(a!) x, int[]? sizes=None, str mode=\"a,b\") -> ()",
    "npu_no_schema(Tensor x -> Tensor",
    "x -> y",
    "NpuScaleAddBackward0",
};
C
cc -shared -fPIC -O1 -o site/torch_npu/lib/libtorch_npu.so lib.c
rm lib.c
