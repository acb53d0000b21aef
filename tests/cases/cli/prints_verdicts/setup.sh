mkdir fusion_verify
cat > fusion_verify/tasks.json <<'JSON'
{"schema": 1, "tasks": [{"id": "rms_norm:a.py:N.forward:0"}, {"id": "swiglu:b.py:f:1"},
                        {"id": "swiglu:not_verified.py:f:2"}]}
JSON
cat > fusion_verify/rms_norm-a.py-N.forward-0.report.json <<'JSON'
{"schema": 1,
 "basic_info": {"final_conclusion": "Fail", "candidate_name": "rms_norm:a.py:N.forward:0"},
 "conclusion": {"answer": "do_not", "speed": "slower", "reason": "slower | <b>by far</b>"},
 "candidate": {"file": "a.py", "start_line": 3, "end_line": 5, "api": "torch_npu.npu_rms_norm"},
 "confirmation": {"by": "statement", "statement": "yes, `this` one"},
 "stages": [{"name": "unit", "status": "pass", "reason": "a | b"}],
 "thresholds": {"max_rel_diff": 0.01, "worst_rel_diff": 0.00012345, "first_fail_step": 0},
 "performance": {"ratio": 1.25, "low": 1.2, "high": 1.31}}
JSON
echo '{"conclusion": {"emulated": true}, "stages": 7}' > fusion_verify/swiglu-b.py-f-1.report.json
