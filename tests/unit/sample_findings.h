// sample_findings.h - a FindingSet with one of everything that a report can
// show, hostile text included, for the tests of the writers.
#ifndef NPUFUSE_SAMPLE_FINDINGS_H
#define NPUFUSE_SAMPLE_FINDINGS_H

#include "model/finding.h"

// STR for static initialisers, where a compound literal is not constant.
#define STRC(literal) {("" literal), sizeof(literal) - 1}
#define TEXT(array) {array, sizeof(array) - 1}
#define LIST(array) {array, COUNT(array), COUNT(array)}
#define MODEL "qwen3/modeling_qwen3.py"
#define TWIN "qwen3_moe/modeling_qwen3_moe.py"

static const char norm_original[] =
    "    def forward(self, hidden_states: torch.Tensor) -> torch.Tensor:\n"
    "        input_dtype = hidden_states.dtype\n"
    "        hidden_states = hidden_states.to(torch.float32)\n"
    "        variance = hidden_states.pow(2).mean(-1, keepdim=True)\n"
    "        hidden_states = hidden_states * torch.rsqrt(variance + "
    "self.variance_epsilon)\n"
    "        return self.weight * hidden_states.to(input_dtype)\n";

static const char norm_replacement[] =
    "    def forward(self, hidden_states: torch.Tensor) -> torch.Tensor:\n"
    "        if npu_fused_ready(hidden_states) and self.weight.shape == "
    "hidden_states.shape[-1:]:\n"
    "            return torch_npu.npu_rms_norm(hidden_states, self.weight, "
    "epsilon=self.variance_epsilon)[0]\n"
    "        else:\n"
    "            input_dtype = hidden_states.dtype\n"
    "            hidden_states = hidden_states.to(torch.float32)\n"
    "            variance = hidden_states.pow(2).mean(-1, keepdim=True)\n"
    "            hidden_states = hidden_states * torch.rsqrt(variance + "
    "self.variance_epsilon)\n"
    "            return self.weight * hidden_states.to(input_dtype)\n";

static const char swiglu_original[] =
    "        return self.down_proj(self.act_fn(self.gate_proj(x)) * "
    "self.up_proj(x))\n";

static const char swiglu_replacement[] =
    "        if os.environ.get(\"NPUFUSE_SWIGLU\") == \"1\" and "
    "npu_fused_ready(x):\n"
    "            fused = torch_npu.npu_swiglu(torch.cat((self.gate_proj(x), "
    "self.up_proj(x)), dim=-1), dim=-1)\n"
    "            return self.down_proj(fused)\n"
    "        else:\n"
    "            return self.down_proj(self.act_fn(self.gate_proj(x)) * "
    "self.up_proj(x))\n";

// A docstring with a fence, a pipe and a tag, as hostile as source may be.
static const char hostile_original[] =
    "        \"\"\"```python\n"
    "        <script>alert(1)</script> | `x` \xE2\x80\xAE \xFF\n"
    "        ```\"\"\"\n"
    "\treturn x * torch.sigmoid(1.702 * x)\n";

static void fill_norm(Finding *finding, Str file, Str id, uint32_t line) {
    static Span default_chain[] = {
        {STRC("qwen3/modeling_qwen3.py"), 48, 48,
         STRC("self.weight = nn.Parameter(torch.ones(hidden_size))")},
    };
    static Fact facts[] = {
        {STRC("form"), STRC("mean of squares over the last axis, `eps` inside "
                            "the root"),
         FACT_PROVEN, STRC(""), {0}},
        {STRC("dtype_out"), STRC("the result has the dtype of the input"),
         FACT_PROVEN, STRC(""), {0}},
        {STRC("weight"), STRC("weight spans the last axis only"), FACT_UNKNOWN,
         STRC("self.weight.shape == hidden_states.shape[-1:]"),
         LIST(default_chain)},
    };
    static Str reasons[] = {
        STRC("the form is proven; every requirement is settled"),
    };
    static Insert inserts[] = {
        {27, INSERT_IMPORT, STRC("import os\n")},
        {27, INSERT_GUARDED_IMPORT,
         STRC("\ntry:\n    import torch_npu\nexcept Exception:\n    torch_npu = None\n")},
    };
    static Port inputs[] = {
        {STRC("x"), STRC("hidden_states"), STRC("unknown"), STRC("(..., d)")},
        {STRC("weight"), STRC("self.weight"), STRC("unknown"), STRC("(d,)")},
        {STRC("eps"), STRC("self.variance_epsilon"), STRC("float"), STRC("")},
    };
    static Port outputs[] = {
        {STRC("y"), STRC("return value"), STRC("dtype of hidden_states"),
         STRC("(..., d)")},
    };
    static Str risks[] = {
        STRC("the operator multiplies by the weight in float32 and rounds "
             "once; code that rounds the normalised value first differs in "
             "the last bits"),
    };
    *finding = (Finding){
        .id = id, .family = STRC("rms_norm"),
        .api = STRC("torch_npu.npu_rms_norm"), .rule = STRC("rms_norm"),
        .variant = STRC("weight"), .verdict = VERDICT_RECOMMEND,
        .priority = PRIORITY_HIGH, .file = file, .start_line = line,
        .end_line = line + 5, .qualname = STRC("Qwen3RMSNorm.forward"),
        .facts = LIST(facts), .reasons = LIST(reasons),
        .original = TEXT(norm_original),
        .replacement = TEXT(norm_replacement),
        .inserts = LIST(inserts), .inputs = LIST(inputs),
        .outputs = LIST(outputs), .switch_ = {.kind = SWITCH_DEVICE_ONLY},
        .risks = LIST(risks),
        .gain = STRC("about 6 elementwise and reduction kernels become one"),
        .gain_ground = STRC("operators counted in the original lines"),
        .op_signature = STRC("npu_rms_norm(Tensor input, Tensor gamma, float "
                             "epsilon=1e-06) -> (Tensor, Tensor)"),
        .op_summary = STRC("y = x * rsqrt(mean(x^2) + epsilon) * gamma, in "
                           "float32 inside, rounded once"),
        .op_source = STRC("op-plugin documentation, npu_rms_norm"),
    };
}

static void fill_swiglu(Finding *finding) {
    static Span chain[] = {
        {STRC(MODEL), 80, 80,
         STRC("self.act_fn = ACT2FN[config.hidden_act]")},
        {STRC("qwen3/configuration_qwen3.py"), 141, 141,
         STRC("hidden_act: str = \"silu\"")},
    };
    static Fact facts[] = {
        {STRC("activation"),
         STRC("`self.act_fn` is silu by the default of `hidden_act`"),
         FACT_PROVEN, STRC(""), LIST(chain)},
        {STRC("same_shape"), STRC("gate and up have one shape"), FACT_UNKNOWN,
         STRC(""), {0}},
    };
    static Str reasons[] = {
        STRC("the two projections are separate: packing them costs one copy"),
    };
    static Span references[] = {
        {STRC("ops/npu.py"), 12, 30, STRC("def fused_swiglu(x):")},
    };
    static Span sites[] = {{STRC("qwen3/modular_qwen3.py"), 40, 40, STRC("")}};
    static Span helpers[] = {{STRC(MODEL), 70, 76, STRC("def act(x):")}};
    *finding = (Finding){
        .id = STRC("swiglu:" MODEL ":Qwen3MLP.forward:9c0f11aa"),
        .family = STRC("swiglu"), .api = STRC("torch_npu.npu_swiglu"),
        .rule = STRC("swiglu"), .verdict = VERDICT_CAUTION,
        .priority = PRIORITY_HIGH, .file = STRC(MODEL), .start_line = 83,
        .end_line = 83, .qualname = STRC("Qwen3MLP.forward"),
        .facts = LIST(facts), .reasons = LIST(reasons),
        .original = TEXT(swiglu_original),
        .replacement = TEXT(swiglu_replacement),
        .switch_ = {SWITCH_ENVIRONMENT,
                    STRC("os.environ.get(\"NPUFUSE_SWIGLU\") == \"1\""),
                    STRC("NPUFUSE_SWIGLU"), {.file = STRC("")}},
        .references = LIST(references), .sites = LIST(sites),
        .helpers = LIST(helpers),
    };
}

static void fill_hostile(Finding *finding) {
    static Str reasons[] = {STRC("a | b, <img src=x> and [a](b) \\ `c|d` `")};
    static Str risks[] = {STRC("# not a heading"), STRC("- __x__ *y*\nz")};
    *finding = (Finding){
        .id = STRC("quick_gelu:odd name's.py:a.<locals>.b|c:00000001"),
        .family = STRC("quick_gelu"), .api = STRC("torch_npu.npu_fast_gelu"),
        .rule = STRC("quick_gelu"), .verdict = VERDICT_CAUTION,
        .priority = PRIORITY_LOW, .file = STRC("odd name's.py"),
        .start_line = 1, .end_line = 4, .qualname = STRC("a.<locals>.b|c"),
        .reasons = LIST(reasons), .original = TEXT(hostile_original),
        .replacement = TEXT(hostile_original),
        .risks = LIST(risks),
        .switch_ = {SWITCH_EXISTING, STRC("args.use_fused_gelu"),
                    STRC("--use-fused-gelu"),
                    {STRC("args.py"), 3, 3, STRC("add_argument")}},
    };
}

static void fill_reject(Finding *finding, Str id, uint32_t line) {
    static Span chain[] = {{STRC("gpt_oss/modeling_gpt_oss.py"), 77, 77,
                            STRC("gate = gate.clamp(max=self.limit)")}};
    static Fact facts[] = {{STRC("form"), STRC("no clamp"), FACT_REFUTED,
                            STRC(""), LIST(chain)}};
    static Str reasons[] = {STRC("a clamp stands between gate and up")};
    *finding = (Finding){
        .id = id, .family = STRC("swiglu"),
        .api = STRC("torch_npu.npu_swiglu"), .rule = STRC("swiglu"),
        .verdict = VERDICT_REJECT, .priority = PRIORITY_HIGH,
        .file = STRC("gpt_oss/modeling_gpt_oss.py"), .start_line = line,
        .end_line = line + 3, .qualname = STRC("GptOssExperts.forward"),
        .facts = LIST(facts), .reasons = LIST(reasons),
        .original = STR("gate\n"),
        .switch_ = {.kind = SWITCH_DEVICE_ONLY},
    };
}

static void fill_unplaced(Finding *finding) {
    static Str reasons[] = {STRC("no place to write it: other statements share "
                                 "its lines")};
    *finding = (Finding){
        .id = STRC("swiglu:one_line.py:f:00000002"), .family = STRC("swiglu"),
        .api = STRC("torch_npu.npu_swiglu"), .rule = STRC("swiglu"),
        .verdict = VERDICT_CAUTION, .priority = PRIORITY_HIGH,
        .file = STRC("one_line.py"), .start_line = 2, .end_line = 2,
        .qualname = STRC("f"), .reasons = LIST(reasons),
        .original = STRC("    y = silu(a) * b; return y\n"),
        .switch_ = {.kind = SWITCH_DEVICE_ONLY},
    };
}

static void fill_hashes(Finding *findings, size_t count) {
    for (size_t i = 0; i < count; i++) {
        findings[i].rule_version = STR("0123456789ab");
        findings[i].file_sha256 =
            STR("00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff");
    }
}

static void fill_sample(FindingSet *set) {
    static Str paths[] = {STRC("models"), STRC("odd name's.py")};
    static Str rules[] = {STRC("mine/rules")};
    static Finding findings[7];
    static Str families[] = {STRC("rms_norm"), STRC("swiglu"),
                             STRC("quick_gelu"), STRC("rotary")};
    static Existing existing[] = {
        {STRC("ops/npu.py"), 20, 20, STRC("torch_npu.npu_swiglu"),
         STRC("fused_swiglu")},
    };
    static Skipped skipped[] = {
        {STRC("data/huge.py"), STRC("larger than 64 MB"), 0},
        {STRC("old/py2.py"), STRC("invalid syntax: `print x`"), 14},
    };
    fill_reject(&findings[0], STR("swiglu:gpt_oss/modeling_gpt_oss.py:"
                                  "GptOssExperts.forward:0badc0de"), 76);
    fill_reject(&findings[1], STR("swiglu:gpt_oss/modeling_gpt_oss.py:"
                                  "GptOssExperts.forward:0badc0de#2"), 101);
    fill_hostile(&findings[2]);
    fill_norm(&findings[3], STR(MODEL),
              STR("rms_norm:" MODEL ":Qwen3RMSNorm.forward:1a2b3c4d"), 55);
    fill_swiglu(&findings[4]);
    fill_norm(&findings[5], STR(TWIN),
              STR("rms_norm:" TWIN ":Qwen3MoeRMSNorm.forward:1a2b3c4d"), 161);
    fill_unplaced(&findings[6]);
    fill_hashes(findings, COUNT(findings));
    *set = (FindingSet){
        .root = STRC("models"), .tool_version = STRC("0.1.0"),
        .scan = {.paths = LIST(paths), .rules = LIST(rules)},
        .file_count = 12, .function_count = 345, .line_count = 8901,
        .families = LIST(families), .findings = LIST(findings),
        .existing = LIST(existing), .skipped = LIST(skipped),
    };
}

#endif
