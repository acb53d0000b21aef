// phrases.c - the table of phrases. A phrase is Markdown, its arguments are
// not: the caller escapes them. `{0}` stands for the first argument, so that
// a language may order them as it likes.
#include "base/base.h"

#include "report/phrases.h"

static const char *const table[PHRASE_COUNT][LANG_COUNT] = {
    [SAY_RECOMMEND] = {"recommend", "推荐"},
    [SAY_CAUTION] = {"caution", "谨慎"},
    [SAY_REJECT] = {"reject", "不替换"},
    [SAY_PROVEN] = {"proven", "已证实"},
    [SAY_REFUTED] = {"refuted", "已否定"},
    [SAY_UNKNOWN] = {"unknown", "未知"},
    [SAY_HIGH] = {"high", "高"},
    [SAY_MEDIUM] = {"medium", "中"},
    [SAY_LOW] = {"low", "低"},

    [SAY_COMMA] = {", ", "，"},
    [SAY_COLON] = {": ", "："},
    [SAY_COLON_END] = {":", "："}, // at the end of a line
    [SAY_LIST_COMMA] = {", ", "、"},

    [SAY_TITLE] = {"npufuse identification report", "npufuse 融合算子识别报告"},
    [SAY_INTRO] = {"Made by reading the source only. **No file of the project "
                   "was changed.**",
                   "本报告仅由阅读源码得出，**未修改项目中的任何文件**。"},
    [SAY_TOOL] = {"Tool", "工具"},
    [SAY_SCANNED] = {"Scanned", "扫描对象"},
    [SAY_SIZE] = {"Size", "规模"},
    [SAY_SIZE_IS] = {"Python files {0} · functions {1} · lines {2}",
                     "Python 文件 {0} · 函数 {1} · 代码行 {2}"},
    [SAY_OPERATORS] = {"Operators", "算子"},
    [SAY_OPERATORS_OF] = {"compared with the installed {0}", "已与本机安装的 {0} 比对"},
    [SAY_OPERATORS_UNCHECKED] = {"no torch_npu is installed here; compare them where it is: "
                                 "`npufuse api check`",
                                 "本机未安装 torch_npu；请在安装了它的机器上比对：`npufuse api check`"},
    [SAY_RESULT] = {"Result", "结果"},
    [SAY_RESULT_IS] = {"✅ recommend {0} · ⚠️ caution {1} · ❌ reject {2}",
                       "✅ 推荐 {0} · ⚠️ 谨慎 {1} · ❌ 不替换 {2}"},
    [SAY_RESULT_BEYOND] = {" ({0} of them without code, beyond norms, gated activations, "
                           "rotary embedding, attention and experts)",
                           "（其中 {0} 项不生成代码，在归一化、门控激活、旋转位置编码、注意力与专家之外）"},
    [SAY_ALSO] = {"Besides", "另有"},
    [SAY_ALSO_IS] = {"already fused {0} · skipped {1}",
                     "已使用融合算子 {0} · 跳过 {1}"},
    [SAY_LOOKED_FOR] = {"Looked for", "检查的类别"},
    [SAY_NOT_FOUND_FAMILIES] = {"{0}; nothing found for {1}",
                                "{0}；其中 {1} 未发现"},

    [SAY_NUMBER] = {"No.", "编号"},
    [SAY_FAMILY] = {"Family", "类别"},
    [SAY_WHERE] = {"Where", "位置"},
    [SAY_API] = {"API", "API"},
    [SAY_PRIORITY] = {"Priority", "优先级"},
    [SAY_REASON] = {"Reason", "理由"},
    [SAY_ID] = {"ID", "ID"},
    [SAY_NAME] = {"Name", "名称"},
    [SAY_EXPRESSION] = {"Expression", "表达式"},
    [SAY_DTYPE] = {"dtype", "dtype"},
    [SAY_SHAPE] = {"Shape", "形状"},
    [SAY_STATE] = {"State", "状态"},
    [SAY_CLAIM] = {"Claim", "判断"},
    [SAY_LEARNT] = {"Learnt from", "依据"},
    [SAY_FUNCTION] = {"Function", "函数"},
    [SAY_FILE] = {"File", "文件"},
    
    [SAY_SUMMARY] = {"Summary", "总览"},
    [SAY_CANDIDATES] = {"Candidates", "候选点"},
    [SAY_REFUSED] = {"Refused", "不替换的代码"},
    [SAY_EXISTING] = {"Already fused", "已使用融合算子"},
    [SAY_SKIPPED] = {"Skipped", "跳过的文件"},
    [SAY_ORDER] = {"Suggested order of verification", "建议的验证顺序"},
    [SAY_STOP] = {"Stop here and choose", "到此为止，请选择"},

    [SAY_NO_CANDIDATES] = {"No code was found that a fused operator can "
                           "replace.",
                           "没有发现可以用融合算子替换的代码。"},
    [SAY_REFUSED_COUNT] = {"{0} refused", "{0} 处不替换"},
    [SAY_SEE_REFUSED] = {"{0} different reasons", "{0} 种原因"},
    [SAY_MORE_PLACES] = {"and {0} more", "及另外 {0} 处"},
    [SAY_NO_REASON] = {"every requirement is settled", "各项要求均已确认"},

    [SAY_VERDICT_LINE] = {"Verdict **{0}**, priority **{1}**",
                          "结论：**{0}**，优先级：**{1}**"},
    [SAY_RULE] = {"Rule", "规则"},
    [SAY_VARIANT] = {"{0} (variant {1})", "{0}（变体 {1}）"},
    [SAY_PLACES] = {"The same code stands in {0} places",
                    "相同的代码共有 {0} 处"},
    [SAY_PLACES_NOTE] = {"What follows was learnt at the first place; the "
                         "facts of each are in `findings.json`.",
                         "以下内容取自第一处；每一处的依据见 "
                         "`findings.json`。"},
    [SAY_HELPERS] = {"Also part of the computation", "计算还包括"},
    [SAY_SITES] = {"The same code also stands at (keep them in step)",
                   "相同代码还出现在（需同步修改）"},
    [SAY_ORIGINAL] = {"Original", "原始代码"},
    [SAY_REPLACEMENT] = {"Replacement", "替换代码"},
    [SAY_NO_REPLACEMENT] = {"**No replacement was written**; the reason is "
                            "given above. There is nothing to confirm.",
                            "**未生成替换代码**，原因见上，无需确认。"},
    [SAY_INSERT] = {"Added once, before line {0}", "一次性添加，第 {0} 行之前"},
    [SAY_INSERT_EACH] = {"Added once in each file, before the line given with "
                         "each place above",
                         "每个文件添加一次，行号见上面各处"},
    [SAY_INSERT_SAME] = {"the lines shown at {0}", "与 {0} 处所示相同"},
    [SAY_INSERT_LINES] = {"additions before line {0}", "添加于第 {0} 行之前"},
    [SAY_API_FACTS] = {"API", "API"},
    [SAY_SOURCE] = {"Source", "来源"},
    [SAY_NOT_STATED] = {"not stated", "未给出"},
    [SAY_PORTS] = {"Inputs and outputs", "输入与输出"},
    [SAY_INPUT] = {"in", "输入"},
    [SAY_OUTPUT] = {"out", "输出"},
    [SAY_FACTS] = {"What was checked", "检查项"},
    [SAY_GUARDED] = {"tested at run time", "运行时检查"},
    [SAY_NOT_SHOWN] = {"not shown", "未见"},
    [SAY_REFERENCES] = {"Fused code of this repository", "仓内已有参考"},
    [SAY_NONE_FOUND] = {"not found", "未找到"},
    [SAY_SWITCH] = {"Switch", "开关"},
    [SAY_SWITCH_EXISTING] = {"the project's own", "沿用项目已有开关"},
    [SAY_SWITCH_PARAMETER] = {"a new parameter", "新增参数"},
    [SAY_SWITCH_ENVIRONMENT] = {"an environment variable", "环境变量"},
    [SAY_SWITCH_DEVICE] = {"none; the device test alone decides",
                           "无，仅由设备检测决定"},
    [SAY_CONDITION] = {"condition", "条件"},
    [SAY_RISKS] = {"Risks", "风险"},
    [SAY_NO_RISKS] = {"none known", "无已知风险"},
    [SAY_GAIN] = {"Expected gain", "预期收益"},
    [SAY_GROUND] = {" (ground: {0})", "（依据：{0}）"},
    [SAY_NO_GAIN] = {"not estimated", "未估计"},

    [SAY_REFUSED_INTRO] = {"Looks like a candidate and is not one.",
                           "看似可以替换，但不满足要求。"},
    [SAY_AND_MORE] = {"and {0} more, see `findings.json`",
                      "另有 {0} 条，见 `findings.json`"},
    [SAY_EXISTING_INTRO] = {"These places call a fused operator; nothing to "
                            "do.",
                            "以下位置已调用融合算子，无需处理。"},
    [SAY_SKIPPED_INTRO] = {"What was not read. A file with a line number was "
                           "read except for the statement at that line.",
                           "未能读取的内容。带行号的文件仅该行语句未能解析，"
                           "其余部分已扫描。"},

    [SAY_ORDER_INTRO] = {"Each one alone against the unchanged code, first "
                         "precision, then speed. High priority comes first, "
                         "recommend before caution, then what has the fewest "
                         "open questions and the most places.",
                         "逐个与未修改的代码对比，先精度后性能。先高优先级，"
                         "推荐先于谨慎，其次是未决问题少、出现次数多的。"},
    [SAY_ORDER_WHY] = {"{0} priority, {1}", "优先级{0}，{1}"},
    [SAY_ORDER_PLACES] = {"{0} places", "{0} 处"},
    [SAY_ORDER_GUARDS] = {"{0} tested at run time", "{0} 项运行时检查"},
    [SAY_ORDER_UNKNOWN] = {"{0} unknown", "{0} 项未知"},
    [SAY_ORDER_SETTLED] = {"all requirements settled", "各项要求均已确认"},
    [SAY_STOP_INTRO] = {"Nothing was changed. Identification ends here: which "
                        "candidates are tried is for you to decide. Confirm "
                        "those that you choose, and no others; several "
                        "IDs may stand in one command:",
                        "没有修改任何文件，识别阶段到此为止：尝试哪些候选"
                        "由您决定。请只确认您选择的候选，一条命令可以写"
                        "多个 ID："},
    [SAY_STOP_CONFIRM] = {"It asks on a terminal; without one it needs "
                          "`--statement` with your own words. A confirmation "
                          "is bound to the code and the replacement as shown "
                          "here: scan again when the file has changed. Verify "
                          "one candidate at a time, precision before speed.",
                          "命令会在终端上询问；没有终端时须用 `--statement` 写明"
                          "您的原话。确认只对此处所示的代码和替换有效："
                          "文件改动后请重新扫描。"
                          "每次只验证一个候选，先精度，后性能。"},
    [SAY_STOP_NOTHING] = {"Nothing was changed, and there is nothing to "
                          "confirm.",
                          "没有修改任何文件，也没有需要确认的内容。"},

    [SAY_MISSING] = {"information missing", "信息缺失"},
    [SAY_EMULATED] = {"emulated", "仿真"},
    [SAY_ANSWER] = {"Answer", "结论"},
    [SAY_CONFIRMED] = {"Confirmed", "确认"},
    [SAY_STAGE] = {"Stage", "阶段"},
    [SAY_OUTCOME] = {"Outcome", "结果"},
    [SAY_WORST_DIFF] = {"Largest relative difference of the loss", "loss 最大相对误差"},
    [SAY_LIMIT] = {"limit", "上限"},
    [SAY_FIRST_FAIL] = {"first failing step", "首个不达标步"},
    [SAY_NO_STEP] = {"none", "无"},
    [SAY_STEP_TIME] = {"Step time", "单步耗时"},

    [SAY_MEASURED] = {"Measured device time", "实测设备时间"},
    [SAY_MEASURED_OF] = {"From the profile {0}, whose steps take {1} ms. What fusing gives is at "
                         "most the last factor, and 2x by experience for a run that memory bounds.",
                         "来自采集数据 {0}，各步共 {1} ms。融合收益以“上限”列为界；访存瓶颈的序列"
                         "经验值约 2 倍。"},
    [SAY_RUN] = {"Run of kernels", "算子序列"},
    [SAY_CALLS] = {"Calls", "次数"},
    [SAY_DEVICE_MS] = {"Device ms", "设备 ms"},
    [SAY_GAPS_MS] = {"Gaps ms", "间隙 ms"},
    [SAY_OF_STEPS] = {"Of the steps", "占各步"},
    [SAY_AT_MOST] = {"At most", "上限"},
    [SAY_BOUND] = {"Bound by", "瓶颈"},
    [SAY_ROWS] = {"First at rows", "首次出现行"},
    [SAY_JOINED] = {"Joined by", "关联依据"},
    [SAY_JOINED_LINE] = {"source line", "源码行"},
    [SAY_JOINED_MODULE] = {"module", "模块"},
    [SAY_JOINED_API] = {"operator alone", "仅算子"},
    [SAY_JOINED_SHARED] = {"operator alone, {0} candidates together", "仅算子，{0} 个候选合计"},
    [SAY_RELATIVE] = {"relative", "相对值"},
    [SAY_NOT_KNOWN] = {"not known", "未知"},
    [SAY_NOTHING_MEASURED] = {"No run of the profile is that of a candidate.",
                              "采集数据中没有与候选对应的序列。"},
    [SAY_UNEXPLAINED] = {"Hot runs that no candidate explains", "没有候选对应的热点序列"},
    [SAY_UNEXPLAINED_INTRO] = {"Kernels that run together often. Nothing that was scanned is known "
                               "to be their code.",
                               "经常一起执行的算子；扫描范围内没有找到对应代码。"},
    [SAY_NO_OPERATOR] = {"custom fused kernel", "自定义融合算子"},
    [SAY_PROFILE_LACKS] = {"What the profile lacks:", "采集数据所缺："},
    [SAY_SHORT_MEASURED] = {"measured: {0} ms of {1} ms of the profile's steps are in candidates",
                            "实测：各步 {1} ms 中，{0} ms 属于候选"},
    [SAY_SHORT_UNEXPLAINED] = {"; {0} hot runs have no candidate", "；{0} 个热点序列没有对应候选"},

    [SAY_SHORT_COUNTS] = {"files {0} · recommend {1} · caution {2} · reject {3}",
                          "文件 {0} · 推荐 {1} · 谨慎 {2} · 不替换 {3}"},
    [SAY_SHORT_REST] = {"{0} more places, in the report", "另有 {0} 处，见报告"},
    [SAY_SHORT_BEYOND] = {" ({0} of them without code, beyond the main families)",
                          "（其中 {0} 项不生成代码，在主要类别之外）"},
    [SAY_SHORT_ALSO] = {" · already fused {0} · skipped {1}",
                        " · 已融合 {0} · 跳过 {1}"},
    [SAY_SHORT_REPORT] = {"report: {0}", "报告：{0}"},
    [SAY_SHORT_CONFIRM] = {"nothing was changed; read the report, choose, then: {0}ID...",
                           "未修改任何文件；请阅读报告并选择，然后：{0}ID..."},
};

const char *phrase(Lang lang, Phrase which) {
    if (which >= PHRASE_COUNT || lang >= LANG_COUNT || !table[which][lang]) {
        BUG("no phrase %d in language %d", (int)which, (int)lang);
    }
    return table[which][lang];
}

void say(Buf *out, Lang lang, Phrase which, const Str *args) {
    for (const char *p = phrase(lang, which); *p;) {
        if (p[0] == '{' && p[1] >= '0' && p[1] <= '9' && p[2] == '}') {
            buf_add(out, args[p[1] - '0']);
            p += 3;
        } else {
            buf_add_char(out, *p++);
        }
    }
}
