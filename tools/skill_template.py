#!/usr/bin/env python3
"""Makes the skill's validation_report_template.html: tools/skill_template.py [--check]

It is the page of `npufuse report` (assets/report) for people who fill in
`const REPORT_DATA` by hand, in one file that needs nothing else. It is part of
the repository because the skill is used as a folder; --check says whether it
is up to date (exit code 1 if not).
"""
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ASSETS = ROOT / "assets" / "report"
TEMPLATE = (ROOT / "skill" / "ascend-fusion-op-replace" / "assets"
            / "validation_report_template.html")
PARTS = ("words", "numbers", "dom", "plain", "charts", "diff", "tables", "page", "filled_in")

DATA = r"""<script>
// 用真实运行得到的数据替换本对象；没有的值保留 "" 或 null，页面显示“信息缺失”。
// 代码文本中的 < 写成 \u003c，否则脚本的结束标签会截断本页；反斜杠写成 \\，换行写成 \n。
// final_conclusion: Pass | Fail | Skip | Blocked
// diffs: [{"file_path": "", "hunks": [{"old_line": 1, "new_line": 1, "old_code": "", "new_code": ""}]}]
// metrics: merge_jsonl.py 打到标准输出的数组；thresholds.first_fail_step 取自其标准错误
const REPORT_DATA = {
  "basic_info": {
    "task_name": "", "candidate_name": "", "baseline_status": "", "fused_status": "",
    "final_conclusion": "", "work_dir": "", "hardware": "", "world_size": null,
    "rank_count": null
  },
  "commands": {
    "baseline_cmd": "", "fused_cmd": "", "script_path": "", "data_path": "", "ckpt_path": ""
  },
  "diffs": [],
  "metrics": [],
  "thresholds": {"max_rel_diff": 0.01, "first_fail_step": null}
};
</script>"""


def read(name):
    return (ASSETS / name).read_text(encoding="utf-8")


def put(page, place, text):
    if page.count(place) != 1:
        sys.exit(f"skill_template: page.html has no single place '{place}'")
    return page.replace(place, text)


def made():
    page = read("page.html")
    page = put(page, "<!-- npufuse:chart-style -->", "<!-- made by tools/skill_template.py -->")
    page = put(page, "<!-- npufuse:chart-script -->\n", "")
    page = put(page, "<!-- npufuse:data -->", DATA)
    page = put(page, "/* npufuse:style */", read("style.css"))
    page = put(page, "/* npufuse:script */", "".join(read(part + ".js") for part in PARTS))
    return put(page, "\nstart();\n", "\nfillIn();\nstart();\n")


def main(words):
    page = made()
    if words == ["--check"]:
        is_current = TEMPLATE.is_file() and TEMPLATE.read_text(encoding="utf-8") == page
        print("up to date" if is_current else f"run tools/skill_template.py: '{TEMPLATE}' differs")
        return 0 if is_current else 1
    if words:
        print(__doc__.split("\n")[0], file=sys.stderr)
        return 2
    TEMPLATE.parent.mkdir(parents=True, exist_ok=True)
    TEMPLATE.write_text(page, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
