site=venv/lib/python3.11/site-packages
mkdir -p $site/torch_npu/lib $site/torch_npu-2.0.0.dist-info
printf 'Version: 2.0.0\n' > $site/torch_npu-2.0.0.dist-info/METADATA
cat > lib.c <<'C'
const char *const texts[] = {
    "npu_rms_norm(Tensor self, Tensor gamma, float epsilon=1e-06) -> (Tensor, Tensor)",
    "npu_swiglu(Tensor input, int dim) -> Tensor", // dim is passed: it matters to nobody
    "NpuRmsNormBackward0", "NpuSwigluBackward0",
};
C
cc -shared -fPIC -O1 -o $site/torch_npu/lib/libtorch_npu.so lib.c
rm lib.c
