_add("npu_rms_norm", """text""")
_add("npu_moe_gating_top_k_softmax", """text""")
