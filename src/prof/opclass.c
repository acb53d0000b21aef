// opclass.c - one table of spellings. A type is looked up as it is, then without
// what versions and back ends add to a name (V2, D, AiCore).
#include "base/base.h"

#include "prof/opclass.h"

#include <strings.h>

typedef struct Spelling {
    const char *type;
    ProfOp op;
} Spelling;

static const Spelling spellings[] = {
    {"MatMul", OP_MATMUL}, {"BatchMatMul", OP_MATMUL}, {"MatMulCommon", OP_MATMUL},
    {"Gemm", OP_MATMUL}, {"Mm", OP_MATMUL}, {"Bmm", OP_MATMUL}, {"Matmul", OP_MATMUL},
    {"TransposeBatchMatMul", OP_MATMUL}, {"GroupedMatmul", OP_MATMUL},
    {"QuantBatchMatmul", OP_MATMUL}, {"GemmV", OP_MATMUL}, {"FusedMatMul", OP_MATMUL},
    {"MatmulFp32", OP_MATMUL}, {"BatchMatmulFixpipe", OP_MATMUL}, {"Linear", OP_MATMUL},
    {"Cast", OP_CAST}, {"MemSet", OP_FILL}, {"ZerosLike", OP_FILL}, {"Fill", OP_FILL},
    {"Zeros", OP_FILL}, {"OnesLike", OP_FILL}, {"Ones", OP_FILL}, {"FillOnes", OP_FILL},
    {"Fills", OP_FILL}, {"MemSetAsync", OP_FILL},
    {"Transpose", OP_TRANSPOSE}, {"Permute", OP_TRANSPOSE},
    {"ConfusionTranspose", OP_TRANSPOSE}, {"Transposev", OP_TRANSPOSE},
    {"Slice", OP_SLICE}, {"StridedSlice", OP_SLICE}, {"AsStrided", OP_SLICE},
    {"SliceLastDim", OP_SLICE}, {"SliceWithAxes", OP_SLICE}, {"Narrow", OP_SLICE},
    {"ViewCopy", OP_COPY},
    {"Split", OP_SPLIT}, {"SplitV", OP_SPLIT}, {"Chunk", OP_SPLIT},
    {"Unpack", OP_SPLIT}, {"Unstack", OP_SPLIT},
    {"Concat", OP_CONCAT}, {"Cat", OP_CONCAT}, {"ConcatV", OP_CONCAT}, {"Pack", OP_CONCAT},
    {"Stack", OP_CONCAT},
    {"Pad", OP_PAD}, {"PadV", OP_PAD}, {"SliceGrad", OP_PAD}, {"StridedSliceGrad", OP_PAD},
    {"TensorMove", OP_COPY}, {"Identity", OP_COPY}, {"Contiguous", OP_COPY},
    {"Assign", OP_COPY}, {"Copy", OP_COPY}, {"Reshape", OP_COPY}, {"Flatten", OP_COPY},
    {"SqueezeNd", OP_COPY}, {"UnsqueezeNd", OP_COPY}, {"TensorRedirect", OP_COPY},
    {"TransDataSpecial", OP_RETILE}, {"TransData", OP_RETILE}, {"FormatCast", OP_RETILE},
    {"BroadcastTo", OP_BROADCAST}, {"Expand", OP_BROADCAST}, {"Tile", OP_BROADCAST},
    {"Expandv", OP_BROADCAST}, {"TileWithAxis", OP_BROADCAST}, {"Broadcast", OP_BROADCAST},
    {"RepeatInterleave", OP_BROADCAST}, {"Repeat", OP_BROADCAST},
    {"Add", OP_ADD}, {"Adds", OP_ADD}, {"Axpy", OP_ADD}, {"AddN", OP_ADD},
    {"BiasAdd", OP_ADD}, {"AccumulateNV", OP_ADD}, {"AssignAdd", OP_ADD},
    {"AssignSub", OP_SUB},
    {"Sub", OP_SUB}, {"Subs", OP_SUB}, {"Mul", OP_MUL}, {"Muls", OP_MUL},
    {"RealDiv", OP_DIV}, {"Div", OP_DIV}, {"Divs", OP_DIV}, {"DivNoNan", OP_DIV},
    {"FloorDiv", OP_DIV},
    {"Square", OP_SQUARE}, {"Pow", OP_POW}, {"Power", OP_POW}, {"Pows", OP_POW},
    {"SquareSum", OP_SQUARE_SUM},
    {"Sqrt", OP_SQRT}, {"Rsqrt", OP_RSQRT}, {"Reciprocal", OP_RECIPROCAL},
    {"Inv", OP_RECIPROCAL}, {"Neg", OP_NEG}, {"Addcmul", OP_ADDCMUL},
    {"Addcdiv", OP_ADDCDIV}, {"Lerp", OP_LERP}, {"Lerps", OP_LERP},
    {"Maximum", OP_MAXIMUM}, {"Minimum", OP_MAXIMUM}, {"ClipByValue", OP_CLAMP},
    {"Clamp", OP_CLAMP}, {"Exp", OP_EXP}, {"Log", OP_LOG}, {"Abs", OP_ABS}, {"Tanh", OP_TANH},
    {"TanhGrad", OP_TANH_GRAD}, {"TanhBackward", OP_TANH_GRAD}, {"Erf", OP_ERF},
    {"ReduceMean", OP_MEAN}, {"Mean", OP_MEAN}, {"ReduceSum", OP_SUM}, {"Sum", OP_SUM},
    {"ReduceMax", OP_REDUCE_MAX}, {"Max", OP_REDUCE_MAX}, {"ArgMaxWithValue", OP_REDUCE_MAX},
    {"Swish", OP_SWISH}, {"Silu", OP_SWISH}, {"SwishGrad", OP_SWISH_GRAD},
    {"SiluGrad", OP_SWISH_GRAD}, {"SiluBackward", OP_SWISH_GRAD},
    {"Sigmoid", OP_SIGMOID}, {"SigmoidGrad", OP_SIGMOID_GRAD},
    {"SwishBackward", OP_SWISH_GRAD}, {"SigmoidBackward", OP_SIGMOID_GRAD},
    {"GeluBackward", OP_GELU_GRAD},
    {"Gelu", OP_GELU}, {"FastGelu", OP_FAST_GELU}, {"GeluGrad", OP_GELU_GRAD},
    {"FastGeluGrad", OP_GELU_GRAD}, {"Relu", OP_RELU},
    {"Softmax", OP_SOFTMAX}, {"SoftmaxGrad", OP_SOFTMAX_GRAD},
    {"ScaledMaskedSoftmax", OP_SOFTMAX}, {"ScaledMaskedSoftmaxGrad", OP_SOFTMAX_GRAD},
    {"SoftmaxBackward", OP_SOFTMAX_GRAD}, {"MaskedFill", OP_MASKED_FILL},
    {"AxpyWithSoftmaxAndDropOutDoMask", OP_SOFTMAX}, {"ConfusionSoftmaxGrad", OP_SOFTMAX_GRAD},
    {"MaskedSoftmaxWithRelPosBias", OP_SOFTMAX},
    {"DropoutWithMulsAndSoftmaxGrad", OP_SOFTMAX_GRAD}, {"MaskedScale", OP_DROPOUT},
    {"Select", OP_SELECT}, {"Where", OP_SELECT}, {"SWhere", OP_SELECT},
    {"DropOutDoMask", OP_DROPOUT}, {"DropoutDoMask", OP_DROPOUT}, {"Dropout", OP_DROPOUT},
    {"DropOutGenMask", OP_DROPOUT_MASK}, {"StatelessDropOutGenMask", OP_DROPOUT_MASK},
    {"DropOutGenMaskV", OP_DROPOUT_MASK}, {"DSAGenBitMask", OP_DROPOUT_MASK},
    {"DSAStatelessGenBitMask", OP_DROPOUT_MASK},
    {"DSARandomUniform", OP_DROPOUT_MASK}, {"StatelessBernoulli", OP_DROPOUT_MASK},
    {"DSARandomNormal", OP_DROPOUT_MASK}, {"StatelessRandomUniform", OP_DROPOUT_MASK},
    {"StatelessUniform", OP_DROPOUT_MASK}, {"RandomUniform", OP_DROPOUT_MASK},
    {"BernoulliMask", OP_DROPOUT_MASK}, {"Bernoulli", OP_DROPOUT_MASK},
    {"LayerNorm", OP_LAYER_NORM}, {"LayerNormGrad", OP_LAYER_NORM_GRAD},
    {"LayerNormBetaGammaBackprop", OP_LAYER_NORM_GRAD},
    {"LayerNormXBackprop", OP_LAYER_NORM_GRAD}, {"GroupNorm", OP_GROUP_NORM},
    {"BNTrainingUpdate", OP_BATCH_NORM}, {"BatchNorm", OP_BATCH_NORM},
    {"FlashAttentionScore", OP_FLASH_ATTENTION},
    {"FlashAttentionScoreGrad", OP_FLASH_ATTENTION_GRAD},
    {"PromptFlashAttention", OP_FLASH_ATTENTION}, {"FusedInferAttentionScore", OP_FLASH_ATTENTION},
    {"IncreFlashAttention", OP_FLASH_ATTENTION}, {"RmsNorm", OP_RMS_NORM},
    {"AddRmsNorm", OP_RMS_NORM}, {"RmsNormGrad", OP_RMS_NORM_GRAD},
    {"GemmaRmsNorm", OP_RMS_NORM}, {"AddRmsNormCast", OP_RMS_NORM},
    {"SwiGlu", OP_SWIGLU}, {"SwiGluGrad", OP_SWIGLU_GRAD},
    {"RotaryMul", OP_ROTARY}, {"RotaryPositionEmbedding", OP_ROTARY},
    {"ApplyRotaryPosEmb", OP_ROTARY}, {"RotaryMulGrad", OP_ROTARY_GRAD},
    {"RotaryPositionEmbeddingGrad", OP_ROTARY_GRAD},
    {"ApplyAdamW", OP_FUSED_ADAM}, {"ApplyFusedEmaAdam", OP_FUSED_ADAM},
    {"ApplyAdam", OP_FUSED_ADAM}, {"FusedAdamw", OP_FUSED_ADAM},
    {"AddLayerNorm", OP_FUSED_OTHER}, {"GeGluV", OP_FUSED_OTHER},
    {"Index", OP_INDEX}, {"IndexAiCore", OP_INDEX}, {"IndexPut", OP_INDEX_PUT},
    {"IndexPutImpl", OP_INDEX_PUT},
    {"Gather", OP_GATHER}, {"IndexSelect", OP_GATHER}, {"GatherNd", OP_INDEX},
    {"GatherElements", OP_GATHER_ELEMENTS}, {"GatherElement", OP_GATHER_ELEMENTS},
    {"GatherD", OP_GATHER_ELEMENTS},
    {"ScatterNd", OP_SCATTER}, {"ScatterNdUpdate", OP_SCATTER}, {"ScatterNdAdd", OP_SCATTER},
    {"ScatterElements", OP_SCATTER}, {"ScatterUpdate", OP_SCATTER}, {"ScatterAdd", OP_SCATTER},
    {"InplaceIndexAdd", OP_SCATTER}, {"IndexAdd", OP_SCATTER},
    {"InplaceIndexAddWithSorted", OP_SCATTER},
    {"EmbeddingDenseGrad", OP_EMBEDDING}, {"NonZero", OP_NONZERO}, {"Sort", OP_SORT},
    {"Argsort", OP_SORT}, {"SortWithIndex", OP_SORT}, {"RadixSort", OP_SORT},
    {"TopK", OP_TOPK}, {"Cumsum", OP_CUMSUM}, {"Equal", OP_COMPARE}, {"NotEqual", OP_COMPARE},
    {"Less", OP_COMPARE}, {"LessEqual", OP_COMPARE}, {"Greater", OP_COMPARE},
    {"GreaterEqual", OP_COMPARE}, {"LogicalAnd", OP_LOGIC}, {"LogicalOr", OP_LOGIC},
    {"LogicalNot", OP_LOGIC}, {"BitwiseNot", OP_LOGIC}, {"Range", OP_RANGE},
    {"LpNormReduce", OP_NORM_STEP}, {"LpNormUpdate", OP_NORM_STEP}, {"LpNorm", OP_NORM_STEP},
    {"Conv", OP_CONV}, {"Conv2D", OP_CONV}, {"Conv3D", OP_CONV}, {"Conv2DBackpropInput", OP_CONV},
    {"Conv2DBackpropFilter", OP_CONV},
};

static const char *const names[OP_CLASS_COUNT] = {
    [OP_OTHER] = "other", [OP_MATMUL] = "MatMul", [OP_CAST] = "Cast", [OP_FILL] = "MemSet",
    [OP_TRANSPOSE] = "Transpose", [OP_SLICE] = "Slice", [OP_SPLIT] = "Split",
    [OP_CONCAT] = "Concat", [OP_ADD] = "Add", [OP_MUL] = "Mul", [OP_SWISH] = "Swish",
    [OP_SOFTMAX] = "Softmax",
};

const char *opclass_name(ProfOp op) {
    return op < OP_CLASS_COUNT && names[op] ? names[op] : "other";
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_same(Str type, const char *name) {
    bool likely = (type.at[0] | 32) == (name[0] | 32);
    return likely && strlen(name) == type.len && strncasecmp(type.at, name, type.len) == 0;
}

static ProfOp look_up(Str type) {
    for (size_t i = 0; type.len && i < COUNT(spellings); i++) {
        if (is_same(type, spellings[i].type)) return spellings[i].op;
    }
    return OP_OTHER;
}

// Takes one ending off: a version (V2), D (attributes, no tensors), where it runs, what
// its other operand is, and where the result goes.
static bool drop_ending(Str *type) {
    static const char *const endings[] = {"AiCore", "Common", "Custom", "Asc", "Op", "Inplace",
                                          "Scalar", "Tensor", "Ext"};
    for (size_t i = 0; i < COUNT(endings); i++) {
        size_t len = strlen(endings[i]);
        if (type->len <= len || !str_ends(*type, endings[i])) continue;
        type->len -= len;
        return true;
    }
    size_t digits = 0;
    while (digits < type->len && is_digit(type->at[type->len - 1 - digits])) digits++;
    size_t cut = digits && digits < type->len && type->at[type->len - 1 - digits] == 'V'
                     ? digits + 1 : 0;
    if (!cut && type->len > 1 && type->at[type->len - 1] == 'D') cut = 1;
    type->len -= cut;
    return cut > 0;
}

// "SoftmaxV2Grad" is SoftmaxGrad: a version need not stand at the end.
static ProfOp look_up_versionless(Str type) {
    char name[64];
    size_t len = 0;
    for (size_t i = 0; i < type.len && len < sizeof(name);) {
        bool version = i && type.at[i] == 'V' && i + 1 < type.len && is_digit(type.at[i + 1]);
        if (!version) name[len++] = type.at[i++];
        else for (i++; i < type.len && is_digit(type.at[i]); i++) continue;
    }
    return len < type.len ? look_up((Str){name, len}) : OP_OTHER;
}

static ProfOp find_folded(Str type) {
    ProfOp op = look_up(type);
    if (op == OP_OTHER) op = look_up_versionless(type);
    while (op == OP_OTHER && type.len && drop_ending(&type)) op = look_up(type);
    return op;
}

static bool drop_start(Str *type, const char *start) {
    size_t len = strlen(start);
    if (type->len <= len || !str_starts(*type, start)) return false;
    *type = (Str){type->at + len, type->len - len};
    return true;
}

// "AddcdivScalarList" and "AddListInplace" are Addcdiv and Add for each tensor of a list.
static ProfOp find_of_lists(Str type) {
    static const char list[] = "List";
    ProfOp op = find_folded(type);
    while (op == OP_OTHER && type.len) {
        if (str_ends(type, list)) type.len -= sizeof(list) - 1;
        else if (!drop_ending(&type)) break;
        op = find_folded(type);
    }
    return op;
}

ProfOp opclass_find(Str type) {
    if (drop_start(&type, "Foreach")) {
        ProfOp op = find_of_lists(type);
        return op == OP_OTHER ? op : (ProfOp)(OP_FOREACH | op);
    }
    ProfOp op = find_folded(type);
    return op == OP_OTHER && drop_start(&type, "Inplace") ? find_folded(type) : op;
}

// ViewCopy(to, its sizes, strides and offset; from, ...) copies between two views. It is
// seen as the operator that it stands for, on the tensor that it reads.
void opclass_refine(ProfKind *kind) {
    enum { FROM = 4 };
    if (kind->op != OP_COPY || kind->in_count <= FROM || kind->out_count < 1) return;
    if (kind->in[FROM].is_absent) return;
    kind->in += FROM;
    kind->in_count = 1;
    uint64_t from = kind->in->count, to = kind->out->count;
    if (to != from) kind->op = to < from ? OP_SLICE : OP_PAD;
}

// (.., m, k) x (.., k, n) -> (.., m, n): k by the number of elements, whichever
// way round the first one is stored.
double opclass_flops(const ProfKind *kind) {
    if (kind->op != OP_MATMUL || kind->in_count < 2 || kind->out_count < 1) return 0;
    const ProfTensor *a = &kind->in[0], *out = &kind->out[0];
    if (out->rank < 2 || out->count == 0 || a->is_absent) return 0;
    double columns = (double)out->dims[out->rank - 1];
    double inner = (double)a->count * columns / (double)out->count;
    return 2.0 * inner * (double)out->count;
}
