// sentences.c - translations of what the engine and the rules say (claims,
// reasons, risks, gains). A pattern is an English sentence in which `*`
// stands for any text; the n-th `*` of it is `{n}` of the translation. A
// sentence without a pattern stays English: correct, only less convenient.
#include "base/base.h"

#include "report/sentences.h"

enum { MAX_HOLES = 6 };

typedef struct Translation {
    const char *english, *chinese;
} Translation;

// The order matters only where two patterns fit one sentence: first wins.
static const Translation table[] = {
    {"the form is proven; every requirement is settled",
     "形式已证实，各项要求均已确认"},
    // Ops and limits.
    {"root mean square normalisation over the trailing axes of gamma",
     "在 gamma 对应的末尾各轴上做均方根归一化"},
    {"SiLU of the first half times the second half",
     "前一半经 SiLU 后与后一半相乘"},
    {"one half times GELU of the other; the right half by default",
     "一半与另一半的 GELU 相乘，默认激活右半"},
    {"QuickGELU, not GELU", "QuickGELU，不是 GELU"},
    {"op-plugin docs: *", "op-plugin 文档：{0}"},
    {"torch_npu docstring: *", "torch_npu 文档字符串：{0}"},
    {"the input is float16, bfloat16 or float32",
     "输入为 float16、bfloat16 或 float32"},
    {"the input has at least * dimension", "输入至少 {0} 维"},
    {"the input has at least * dimensions", "输入至少 {0} 维"},
    {"the input has at most * dimensions", "输入至多 {0} 维"},
    {"the input is contiguous", "输入在内存中连续"},
    {"the input is not empty", "输入非空"},
    {"dim names an axis of the input", "dim 是输入的有效轴"},
    {"the split axis has an even size", "被切分的轴长度为偶数"},
    {"the packed axis has an even size", "打包的轴长度为偶数"},
    {"approximate is 0 (erf) or 1 (tanh)",
     "approximate 为 0（erf）或 1（tanh）"},
    {"gamma has at least * dimension", "gamma 至少 {0} 维"},
    {"gamma has no more axes than the input", "gamma 的轴数不超过输入"},
    {"gamma has the shape of the input's last axes",
     "gamma 的形状等于输入末尾各轴"},
    {"gamma has the input's dtype or is float32",
     "gamma 与输入 dtype 相同或为 float32"},
    {"gate and up have the same shape", "gate 与 up 形状相同"},
    {"weight spans the last axis only", "weight 只对应最后一轴"},
    // Gains.
    {"GELU and the product become one kernel; backward becomes one too",
     "GELU 与乘法合成一个算子，反向同样合成一个"},
    {"SiLU and the product become one kernel; backward becomes one too",
     "SiLU 与乘法合成一个算子，反向同样合成一个"},
    {"three elementwise kernels become one", "三个逐元素算子合成一个"},
    {"about * elementwise and reduction kernels become one",
     "约 {0} 个逐元素与归约算子合成一个"},
    // Risks.
    {"two separate tensors are concatenated first: one more copy of "
     "both, which may cost what the fusion gains; measure it",
     "两个独立张量需先拼接，多一次拷贝，可能抵消融合收益，需实测"},
    {"the activated half is not rounded before the product",
     "激活结果在相乘前不再舍入"},
    {"the older product lines compute another formula",
     "旧产品线采用另一公式"},
    {"the operator multiplies by the weight in float32 and rounds once; "
     "code that rounds the normalised value first differs in the last "
     "bits",
     "算子在 float32 中乘权重并只舍入一次；先对归一化结果舍入的代码末位"
     "会有差异"},
};

// Matches `text` against `pattern` and notes what each `*` stands for. Each
// `*` takes as little as it can, which is what our sentences need.
static bool match(const char *pattern, Str text, Str holes[MAX_HOLES]) {
    const char *star = NULL;
    size_t at = 0, hole_start = 0, count = 0;
    for (;;) {
        if (*pattern == '*') {
            if (count == MAX_HOLES) BUG("too many holes in '%s'", pattern);
            star = pattern++;
            hole_start = at;
            holes[count++] = (Str){text.at + at, 0};
        } else if (*pattern && at < text.len && *pattern == text.at[at]) {
            pattern++;
            at++;
        } else if (!*pattern && at == text.len) {
            return true;
        } else if (star && hole_start + holes[count - 1].len < text.len) {
            at = hole_start + ++holes[count - 1].len;
            pattern = star + 1;
        } else {
            return false;
        }
    }
}

static Str fill(Arena *arena, const char *chinese, const Str *holes) {
    Buf buf = {0};
    for (const char *p = chinese; *p;) {
        if (p[0] == '{' && p[1] >= '0' && p[1] <= '5' && p[2] == '}') {
            buf_add(&buf, holes[p[1] - '0']);
            p += 3;
        } else {
            buf_add_char(&buf, *p++);
        }
    }
    Str filled = arena_str(arena, buf_str(&buf));
    buf_free(&buf);
    return filled;
}

Str sentence(Arena *arena, Lang lang, Str english) {
    if (lang == LANG_EN) return english;
    for (size_t i = 0; i < COUNT(table); i++) {
        Str holes[MAX_HOLES] = {{0}};
        if (match(table[i].english, english, holes)) {
            return fill(arena, table[i].chinese, holes);
        }
    }
    return english;
}
