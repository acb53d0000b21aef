// sentences.c - translations of what the engine and the rules say (claims,
// reasons, risks, gains): by patterns, of which sentences_match.c has the others.
// A sentence without a pattern stays English: correct, only less convenient. So
// does a user's own rule.
#include "base/base.h"

#include "report/sentences.h"
#include "report/sentences_impl.h"

enum { MAX_HOLES = 6, MAX_DEPTH = 6 };

// The order matters only where two patterns fit one sentence: first wins, and those
// that begin with a hole come last.
static const Translation table[] = {
    // Rules beside the main families.
    {"npu_add_layer_norm has no page of its own: its limits are those of aclnnAddLayerNorm, and "
     "what it saves is the sum's kernel alone",
     "npu_add_layer_norm 没有自己的文档页：约束取自 aclnnAddLayerNorm，且只省去求和的一个算子"},
    {"the sum is used again: the operator returns it as its fourth result with "
     "additional_output=True, which the replacement leaves out; take it by hand",
     "和另有使用：additional_output=True 时算子以第四个结果返回它，替换代码未取用，请手工处理"},
    {"npu_group_norm_silu has no gradient (it is silently None): for inference only; "
     "npu_group_norm_swish trains too, with weight and bias of the input's dtype",
     "npu_group_norm_silu 没有梯度（静默为 None）：仅限推理；npu_group_norm_swish 也能训练，"
     "要求 weight 与 bias 的 dtype 同输入"},
    {"softmax along the last axis of scores that a mask fills", "对掩码填充后的分数沿最后一轴做 softmax"},
    {"the mask is boolean", "掩码是布尔型"},
    {"four axes; the last two have from 32 to 4096 elements, a multiple of 32",
     "四个轴；最后两轴各有 32 到 4096 个元素，且为 32 的倍数"},
    {"the scale, the fill and softmax become one kernel; backward becomes one too",
     "缩放、填充与 softmax 合为一个算子；反向也合为一个"},
    {"nothing here shows the operator's limits: four axes, the last two of 32 to 4096 elements and "
     "multiples of 32",
     "此处看不出算子的约束是否成立：四个轴，最后两轴为 32 到 4096 且为 32 的倍数"},
    {"the operator fills with -10000: a row that is masked as a whole comes out uniform, and a "
     "score that is lower is no longer above the masked ones",
     "该算子以 -10000 填充：整行被掩盖时结果为均匀分布，且更低的分数不再高于被掩盖的分数"},
    {"both are handed in; tested at run time", "两者均由外部给入，在运行时检查"},
    // Plain torch that is slow (match/affine.c).
    {"x.masked_fill_(mask, value) is proven to be the same; by hand, and what it saves is not "
     "measured",
     "已证实与 x.masked_fill_(mask, value) 相同；请手工改写，收益未实测"},
    {"x.masked_fill_(mask, value) is the same if what is unknown holds; by hand, and what it "
     "saves is not measured",
     "若未知项成立，则与 x.masked_fill_(mask, value) 相同；请手工改写，收益未实测"},
    {"the index is a boolean mask", "下标是布尔掩码"},
    {"the mask has the shape of what is written", "掩码与被写张量形状相同"},
    {"the number fits the tensor's dtype: masked_fill_ refuses what overflows, the index writes "
     "infinity",
     "该数在张量 dtype 的范围内：溢出时 masked_fill_ 会报错，下标写入则得到无穷"},
    {"x * ~mask is the same too: it keeps NaN and infinity",
     "x * ~mask 也相同：它会保留 NaN 与无穷"},
    {"this runs on the NPU, in every step", "这段代码在 NPU 上运行，且每步都执行"},
    {"integers are sorted", "被排序的是整数"},
    {"every value is below 2^24: they are indices, below the length of their axis",
     "每个值都小于 2^24：它们是下标，小于所在轴的长度"},
    {"every value is below 2^24 in magnitude", "每个值的绝对值都小于 2^24"},
    {"x.float() sorts into the same order where the axis that these are indices of is shorter "
     "than 2^24; what it saves is not measured",
     "若这些下标所在的轴短于 2^24，x.float() 的排序结果相同；收益未实测"},
    {"x.float() sorts into the same order where every value is below 2^24 in magnitude, and "
     "nothing here shows that; what it saves is not measured",
     "若每个值的绝对值都小于 2^24，x.float() 的排序结果相同，但此处无从证实；收益未实测"},
    {"no rewrite: lerp(other, input, mask) takes no integers, and multiplies what is not chosen "
     "by 0: an infinity or NaN there reaches the result",
     "不改写：lerp(other, input, mask) 不接受整数，且把未选中的一侧乘以 0：其中的无穷或 NaN 会进入结果"},
    {"both sides, and their difference, are finite everywhere", "两侧及其差处处有限"},
    {"the values are float64", "数值是 float64"},
    {"the values are complex", "数值是复数"},
    {"the vector core has no complex numbers: cos and sin as two real tables are the same "
     "product, and all that uses the table has to change with it",
     "向量核没有复数：cos 与 sin 两张实数表可得相同乘积，但使用该表的代码都须一并修改"},
    {"the vector core has no float64: float32 there is another result in the last digits, which "
     "only a person can allow",
     "向量核没有 float64：改用 float32 会使末几位不同，须由人决定"},
    // Training code (match/training.c).
    {"fused=True is set: torch's own fused step is asked for",
     "已设置 fused=True：使用的是 torch 自带的融合步骤"},
    {"'*' is given, an argument that * lacks", "给了参数 '{0}'，而 {1} 没有"},
    {"more arguments are given by position than * takes", "按位置给出的参数多于 {0} 所接受的"},
    {"no learning rate is given, and * needs one", "没有给学习率，而 {0} 必须给"},
    {"* joins parameters and gradients at its first step: float32 and float16 only (bfloat16 "
     "raises), not with ZeRO, FSDP or DTensor",
     "{0} 在第一步把参数与梯度合并：仅限 float32 与 float16（bfloat16 会报错），"
     "不能与 ZeRO、FSDP、DTensor 同用"},
    {"the file shards parameters, and the fused optimizer joins whole ones",
     "该文件切分了参数，而融合优化器合并的是完整参数"},
    {"what * or ** hands over is not known", "* 或 ** 传入的内容未知"},
    {"* takes every argument that is given", "{0} 接受所给的每个参数"},
    {"every parameter is float32 or float16: others raise",
     "每个参数都是 float32 或 float16：其他类型会报错"},
    {"the same parameters have a gradient in every step: what has none in the first is never "
     "updated",
     "每一步有梯度的参数都相同：第一步没有梯度的参数此后不再更新"},
    {"torch's own step is slower: from CANN 8.0 and Atlas A2 on, torch_npu lets it join its "
     "kernels over parameters (foreach) already",
     "torch 自带的步骤更慢：自 CANN 8.0 与 Atlas A2 起，torch_npu 已让它跨参数合并算子（foreach）"},
    {"parameters are whole tensors", "参数是完整张量"},
    {"parameters are whole tensors; nothing in this file shards them",
     "参数是完整张量；该文件没有切分它们"},
    {"gradients are zeroed in place: set_to_none=True raises in the fused optimizer, and parts a "
     "module's gradients from the joined ones",
     "梯度就地清零：set_to_none=True 在融合优化器中会报错，对模块则使梯度脱离合并后的张量"},
    {"gradients are zeroed by the optimizer: model.zero_grad() parts them from the joined ones",
     "梯度由优化器清零：model.zero_grad() 会使梯度脱离合并后的张量"},
    {"one step over joined parameters in place of several kernels a parameter",
     "对合并后的参数做一步，代替每个参数的多个算子"},
    {"error_if_nonfinite is given: clip_grad_norm_fused_ does not raise for such a norm",
     "给了 error_if_nonfinite：clip_grad_norm_fused_ 遇到这种范数不会报错"},
    {"optimizer.clip_grad_norm_fused_ belongs to the fused optimizers of torch_npu.optim: no "
     "other optimizer has this method",
     "optimizer.clip_grad_norm_fused_ 属于 torch_npu.optim 的融合优化器，其他优化器没有这个方法"},
    {"the file makes a fused optimizer: its clip_grad_norm_fused_ clips all that it holds at "
     "once, if these are the same parameters",
     "该文件创建了融合优化器：若参数相同，其 clip_grad_norm_fused_ 可一次裁剪它持有的全部梯度"},
    {"what is clipped is everything that the optimizer holds", "裁剪的正是优化器持有的全部参数"},
    {"no wait for the device: it compares the norm on the host, once a step",
     "无需等待设备：它每步在主机上比较一次范数"},
    {"one norm over joined gradients in place of one a parameter",
     "对合并后的梯度求一次范数，代替每个参数一次"},
    {"no drop-in: label_smoothing is given, and a loss that needs a gradient takes none in "
     "npu_cross_entropy_loss",
     "不能直接替换：给了 label_smoothing，而需要梯度时 npu_cross_entropy_loss 不支持"},
    {"no drop-in: a weight is given, and a mean that needs a gradient takes none in "
     "npu_cross_entropy_loss",
     "不能直接替换：给了 weight，而需要梯度的均值在 npu_cross_entropy_loss 中不支持"},
    {"no drop-in: ignore_index is given, and a mean that needs a gradient takes none in "
     "npu_cross_entropy_loss",
     "不能直接替换：给了 ignore_index，而需要梯度的均值在 npu_cross_entropy_loss 中不支持"},
    {"no drop-in: torch leaves targets of -100 out, npu_cross_entropy_loss takes them for an "
     "error; it returns four tensors, the loss not a scalar",
     "不能直接替换：torch 会略去值为 -100 的目标，npu_cross_entropy_loss 视其为错误；"
     "它返回四个张量，损失不是标量"},
    {"no drop-in: npu_cross_entropy_loss returns four tensors, the loss of shape [1] or [N], and "
     "ignores a class only where ignore_index is not negative",
     "不能直接替换：npu_cross_entropy_loss 返回四个张量，损失形状为 [1] 或 [N]，"
     "且仅当 ignore_index 非负时才忽略该类"},
    {"the operator returns the loss alone: it returns four tensors, the loss of shape [1] or [N] "
     "and of the input's dtype",
     "算子只返回损失：实际返回四个张量，损失形状为 [1] 或 [N]，dtype 同输入"},
    {"targets are int64 classes of a 2-dimensional input of at most 200000 rows",
     "目标是 int64 类别，输入为二维且不超过 200000 行"},
    {"log_softmax and the loss become one kernel", "log_softmax 与损失合为一个算子"},
    {"what is called is *", "所调用的是 {0}"},
    // What the engine concludes.
    {"the form and every requirement are proven", "形式与各项要求均已证实"},
    {"the form is proven; every requirement is settled",
     "形式已证实，各项要求均已确认"},
    {"the form is proven; * conditions are tested at run time",
     "形式已证实，{0} 项条件在运行时检查"},
    {"the form is proven; a default decides what is computed, and is tested at run time",
     "形式已证实；计算内容由默认值决定，在运行时检查"},
    {"computes * (*): every operator, constant and axis is that of the "
     "rule",
     "计算的是 {0}（{1}）：各算子、常数与轴均与规则一致"},
    {"* is * by default", "{0} 默认为 {1}"},
    {"* is of class * by its annotation: tested at run time",
     "按注解 {0} 是类 {1}：运行时检查"},
    {"the original casts *", "原始代码中的类型转换：{0}"},
    {"no cast in the original: it computes in its inputs' dtype",
     "原始代码没有类型转换，按输入的 dtype 计算"},
    {"the original gives *, the operator alone *: its input is cast",
     "原始代码结果为 {0}，算子本身为 {1}：先转换输入"},
    {"the original gives *, the operator alone *: its result is cast",
     "原始代码结果为 {0}，算子本身为 {1}：转换结果"},
    {"the original gives *; a cast to it is written",
     "原始代码结果为 {0}，替换代码会转换到该类型"},
    {"original and operator both give *", "原始代码与算子的结果均为 {0}"},
    {"operators counted in the source; no time was measured",
     "按源码中的算子计数，未实测时间"},
    {"not the operator's formula: expected *, found nothing",
     "与算子公式不符：应为 {0}，未找到"},
    {"not the operator's formula: expected *, found *",
     "与算子公式不符：应为 {0}，实际为 {1}"},
    // Near misses: what is said behind "not the operator's formula".
    {"not the operator's formula: *", "与算子公式不符：{0}"},
    {"a sum is taken where the operator takes the mean", "此处求和，算子求平均"},
    {"the variance subtracts the mean first, as a layer norm does",
     "方差先减去均值，如 LayerNorm"},
    {"what stands under the root is another statistic than the mean of squares",
     "根号下是另一个统计量，不是平方的平均"},
    {"epsilon is a lower bound, not a term under the root", "epsilon 是下限，不是根号下的加项"},
    {"epsilon is added outside of the root", "epsilon 加在根号之外"},
    {"no root is taken of the mean of squares", "平方的平均没有开方"},
    {"the mean is that of absolute values, not of squares", "平均的是绝对值，不是平方"},
    {"neither half changes its sign", "两半都没有变号"},
    {"the halves are joined in the other order", "两半拼接的顺序相反"},
    {"the axis is not cut into halves", "该轴没有切成两半"},
    {"the scores are soft-capped by tanh before the softmax", "softmax 之前分数经 tanh 软限幅"},
    {"the scores are clamped before the softmax", "softmax 之前分数被截断"},
    {"the scores are multiplied by a tensor before the softmax", "softmax 之前分数乘以张量"},
    {"the weights are multiplied by a tensor behind the softmax", "softmax 之后权重乘以张量"},
    {"the weights are normalised again behind the softmax", "softmax 之后权重又归一化"},
    {"the softmax is over another axis than that of the keys", "softmax 不在键的轴上"},
    {"an attention sink joins the scores under the softmax; where the installed operator takes "
     "`sink`, it is to be written by hand",
     "softmax 下有 attention sink；已装算子支持 `sink` 时需手工改写"},
    {"unproven: * (*)", "未能证实：{0}（{1}）"},
    {"no place to write it: *", "没有可写入的位置：{0}"},
    {"an inner value is used elsewhere and stays computed: the gain is "
     "smaller",
     "中间结果另有使用，仍需计算，收益变小"},
    {"it is code for another device: on an NPU the test of the device in line * leaves it out",
     "这是其他设备的代码：在 NPU 上，第 {0} 行的设备判断不会走到这里"},
    {"nothing is known about the operator's limits", "没有该算子的约束资料"},
    {"gate is clamped, and npu_swiglu clamps nothing",
     "gate 被截断（clamp），而 npu_swiglu 不做截断"},
    {"up is clamped, and npu_swiglu clamps nothing",
     "up 被截断（clamp），而 npu_swiglu 不做截断"},
    {"the mean is subtracted first: a layer norm, not an RMS norm",
     "先减去了均值：这是 LayerNorm，不是 RMSNorm"},
    {"no clamp before the product", "乘积之前没有截断"},
    {"no mean is subtracted", "没有减去均值"},
    {"the original rounds an inner value to half precision, the operator does not",
     "原始代码把中间结果舍入到半精度，算子不会"},
    {"the original computes in float64, the operator does not",
     "原始代码以 float64 计算，算子不支持"},
    {"unproven: * may be *, but nothing in sight decides it",
     "未能证实：{0} 可能是 {1}，但可见代码无法确定"},
    {"the form is proven; 1 condition is tested at run time",
     "形式已证实，1 项条件在运行时检查"},
    // What stands around the code.
    {"this code is given to torch.compile", "这段代码交给了 torch.compile"},
    {"torch.compile is used elsewhere in the scanned files",
     "扫描的文件别处使用了 torch.compile"},
    {"graphs are captured or exported elsewhere in the scanned files",
     "扫描的文件别处捕获或导出计算图"},
    {"no torch.compile and no captured graph in the scanned files",
     "扫描的文件中没有 torch.compile，也没有捕获计算图"},
    {"autocast is off here: the dtypes are those of the inputs",
     "此处 autocast 关闭：dtype 即输入的 dtype"},
    {"autocast is on here: products give the low precision dtype; the fused operator casts "
     "nothing",
     "此处 autocast 开启：乘积得到低精度 dtype；融合算子不做任何转换"},
    {"a region of autocast whose `enabled` is known at run time",
     "autocast 区域，`enabled` 在运行时才知道"},
    {"a region of autocast is opened elsewhere in the scanned files",
     "扫描的文件别处开启了 autocast"},
    {"* of the project tells whether an NPU is usable: the import of torch_npu asks it",
     "项目中的 {0} 判断 NPU 是否可用：导入 torch_npu 前先询问它"},
    {"the project tells elsewhere whether an NPU is usable: not asked here",
     "项目在别处判断 NPU 是否可用：此处未询问"},
    {"no region of autocast in the scanned files", "扫描的文件中没有 autocast 区域"},
    {"no gradient passes here: gradients are off; *", "此处没有梯度：梯度已关闭；{0}"},
    {"runs only where `training` is true; *", "只在 `training` 为真时运行；{0}"},
    {"runs only where `training` is false; *", "只在 `training` 为假时运行；{0}"},
    {"the scanned files train elsewhere; *",
     "扫描的文件别处有训练；{0}"},
    {"no backward() and no optimizer in the scanned files; *",
     "扫描的文件中没有 backward()，也没有优化器；{0}"},
    {"the operator has a backward", "算子有反向"},
    {"the operator raises in backward", "算子反向会报错"},
    {"the operator gives no gradient, without a word", "算子静默地不给梯度"},
    {"the operator's backward is not stated", "没有该算子反向的资料"},
    {"* wide where it is made", "生成处宽 {0}"},
    {"they are cut elsewhere", "切点不在正中"},
    {"`*` is None in the fused branch: of what was read, nothing needs it there",
     "融合分支中 `{0}` 为 None：所读代码中无处需要它"},
    {"* wide by default; tested at run time", "默认宽 {0}；运行时检查"},
    {"* wide by default", "默认宽 {0}"},
    {"* wide in the first call of the module; tested at run time",
     "模块中首个调用处宽 {0}；运行时检查"},
    {"* wide in the first call of the module", "模块中首个调用处宽 {0}"},
    // The tensors that go in.
    {"as called in line *, *", "按第 {0} 行的调用，{1}"},
    {"contiguous where it is made: *", "生成时即连续：{0}"},
    {"what was read does not show it: *", "所读代码无从得知：{0}"},
    {"* is a view that is not contiguous: *; *", "{0} 是不连续的视图：{1}；{2}"},
    {"* may be a view that is not contiguous: *; *", "{0} 可能是不连续的视图：{1}；{2}"},
    {"its axes are in another order", "轴的顺序已改变"},
    {"a slice behind the first axis", "在第一轴之后切片"},
    {"a part of an axis", "某轴的一部分"},
    {"one index of an axis", "某轴的一个下标"},
    {"every second element", "每隔一个元素"},
    {"an axis is expanded", "某轴被扩展"},
    {"the replacement copies it first, one copy more", "替换代码先复制，多一次复制"},
    {"the operator's stated limits ask for no copy", "算子写明的约束不要求复制"},
    {"the heads stand before the sequence: BNSD, as the operator is told",
     "头在序列之前：BNSD，按此告知算子"},
    {"the heads stand behind the sequence: BSND, as the operator is told",
     "头在序列之后：BSND，按此告知算子"},
    {"batch and heads are one axis, taken apart for the operator: BNSD",
     "批与头合为一轴，为算子拆开：BNSD"},
    {"that of scaled_dot_product_attention: BNSD", "与 scaled_dot_product_attention 相同：BNSD"},
    {"the tables are broadcast along axis * by the parameter's default: *",
     "按参数默认值，表沿第 {0} 轴广播：{1}"},
    {"the tables are broadcast along axis *: *", "表沿第 {0} 轴广播：{1}"},
    {"which axis is that of the heads is not shown; the tests of the tables' shape hold it at "
     "run time", "未见哪个轴是头；由运行时对表形状的检查保证"},
    {"static as far as seen: nothing in this function makes a size that depends on the data",
     "所见为静态：此函数中没有依赖数据的大小"},
    {"a size of * changes from run to run: *", "{0} 的大小每次不同：{1}"},
    {"a size of * may change: *", "{0} 的大小可能变化：{1}"},
    {"how many rows an expert gets depends on the data", "每个专家得到多少行取决于数据"},
    {"rows are picked by a boolean index", "按布尔下标选行"},
    {"it is cut at a number that is read off a tensor", "按从张量读出的数切分"},
    {"rows are picked by what nonzero or its like counts", "按 nonzero 之类的结果选行"},
    {"an index that a caller gives picks rows", "按调用方给的下标选行"},
    {"it is exchanged for what an object keeps, as a cache of a decode step does",
     "它被换成某对象保留的内容，如解码步的缓存"},
    {"it has as many rows as the data decides", "行数由数据决定"},
    {"what is kept between calls is joined with what is new, as in a decode step",
     "保留的与新的拼接，如解码步"},
    {"each batch is padded to its longest member: the length of a sequence changes from step "
     "to step", "每个批次填充到其中最长者：序列长度逐步变化"},
    // Why a requirement holds or not.
    {"one is computed from the other, element by element",
     "其一由另一个逐元素算得"},
    {"both are parts of one split", "两者出自同一次切分"},
    {"both are as long a part of one tensor", "两者是同一张量中等长的部分"},
    {"one split made them, of two sizes", "同一次切分给了两种大小"},
    {"one split made them, of sizes that are written otherwise",
     "同一次切分，大小的写法不同"},
    {"both are linear layers of one width on the same input",
     "两者是同一输入上宽度相同的线性层"},
    {"one of the two is a learned parameter, not an activation",
     "其一是可学习参数，不是激活值"},
    {"one of the two is broadcast over the other", "其一对另一个做了广播"},
    {"two results of one kind", "两个同类结果"},
    {"nothing in the source shows that the two have one shape",
     "源码无法说明两者形状相同"},
    {"the weight has more than one axis", "权重不止一个轴"},
    {"the weight has one element", "权重只有一个元素"},
    {"the weight has one axis, and the product with x needs its length",
     "权重只有一个轴，且与 x 相乘要求长度一致"},
    {"a parameter whose size the caller gives", "该参数的大小由调用方给出"},
    {"tested at run time", "运行时检查"},
    {"the factor is computed, not a weight of the last axis",
     "该因子是算出来的，不是最后一轴的权重"},
    {"the dtype is known at run time", "dtype 在运行时才知道"},
    {"cast in the source", "源码中已转换"},
    {"the source casts to another dtype", "源码转换为其他 dtype"},
    {"the product of its two parts needs equal halves",
     "两部分相乘要求两半等长"},
    {"no clamp before the product", "相乘之前没有截断"},
    {"made without gaps", "生成时即连续"},
    // Why a replacement cannot be written.
    {"it stands in a lambda or comprehension, where no statement can be "
     "replaced",
     "位于 lambda 或推导式中，无法替换语句"},
    {"it stands in the header of a compound statement", "位于复合语句的头部"},
    {"its block is too long", "所在代码块过长"},
    {"an in-place operator changes a tensor that others see",
     "原地算子会改变他处可见的张量"},
    {"an input has no expression where the replacement would stand",
     "某个输入在替换位置没有可用的表达式"},
    {"calls would be evaluated in another order", "调用的求值顺序会改变"},
    {"a string of several lines would be indented",
     "多行字符串的缩进会被改变"},
    {"other statements share its lines", "同一行还有其他语句"},
    // What operators need and give.
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
    // Operators for inference alone.
    {"npu_gemma_rms_norm has no gradient (it is silently None): for inference only; "
     "npu_rms_norm with 1 + weight in float32 trains too",
     "npu_gemma_rms_norm 没有梯度（静默为 None）：仅限推理；npu_rms_norm 配合 float32 的 "
     "1 + weight 也能训练"},
    {"npu_add_rms_norm raises in backward: for inference only; npu_rms_norm of the sum "
     "trains too",
     "npu_add_rms_norm 反向会报错：仅限推理；对和使用 npu_rms_norm 也能训练"},
    {"the sum is used again: the operator returns it as its third result, which the "
     "replacement leaves out; take it by hand",
     "和另有使用：算子的第三个结果就是它，替换代码没有取用，需要手工取用"},
    // Gains.
    {"5 to 9 elementwise kernels become one; backward becomes one too",
     "5 到 9 个逐元素算子合成一个，反向同样合成一个"},
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

// Whether the text may be an expression: no blank outside of brackets and quotes.
static bool is_expression(Str text) {
    int depth = 0;
    char quote = 0;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.at[i];
        if (quote) quote = c == quote ? 0 : quote;
        else if (c == '"' || c == '\'' || c == '`') quote = c;
        else if (strchr("([{", c)) depth++;
        else if (strchr(")]}", c)) depth--;
        else if (c == ' ' && depth <= 0) return false;
    }
    return text.len > 0;
}

typedef struct Holes {
    Str at[MAX_HOLES];
    bool expression[MAX_HOLES];
    size_t count;
} Holes;

static bool holes_fit(const Holes *holes) {
    for (size_t i = 0; i < holes->count; i++) {
        if (holes->expression[i] && !is_expression(holes->at[i])) return false;
    }
    return true;
}

static bool is_hole(char c) {
    return c == '*' || c == '@';
}

// Matches `text` against `pattern` and notes what each hole stands for. Each
// takes as little as it can, which is what our sentences need.
static bool match(const char *pattern, Str text, Holes *holes) {
    const char *star = NULL;
    size_t at = 0, hole_start = 0;
    holes->count = 0;
    for (;;) {
        if (is_hole(*pattern)) {
            if (holes->count == MAX_HOLES) BUG("too many holes in '%s'", pattern);
            holes->expression[holes->count] = *pattern == '@';
            star = pattern++;
            hole_start = at;
            holes->at[holes->count++] = (Str){text.at + at, 0};
        } else if (*pattern && at < text.len && *pattern == text.at[at]) {
            pattern++;
            at++;
        } else if (!*pattern && at == text.len) {
            return holes_fit(holes);
        } else if (star && hole_start + holes->at[holes->count - 1].len < text.len) {
            at = hole_start + ++holes->at[holes->count - 1].len;
            pattern = star + 1;
        } else {
            return false;
        }
    }
}

static Str fill(Arena *arena, const char *chinese, const Holes *holes) {
    Buf buf = {0};
    for (const char *p = chinese; *p;) {
        if (p[0] == '{' && p[1] >= '0' && p[1] <= '5' && p[2] == '}') {
            buf_add(&buf, holes->at[p[1] - '0']);
            p += 3;
        } else {
            buf_add_char(&buf, *p++);
        }
    }
    Str filled = arena_str(arena, buf_str(&buf));
    buf_free(&buf);
    return filled;
}

static const Translation *row(size_t i) {
    return i < COUNT(table) ? &table[i] : &sentences_match[i - COUNT(table)];
}

static Str translate(Arena *arena, Str english, int depth);

// By one pattern: of those that begin with a hole, or of the others. Empty: by none.
static Str by_pattern(Arena *arena, Str english, bool open, int depth) {
    for (size_t i = 0; i < COUNT(table) + sentences_match_count; i++) {
        const Translation *t = row(i);
        Holes holes;
        if (is_hole(t->english[0]) != open || !match(t->english, english, &holes)) continue;
        for (size_t h = 0; h < holes.count; h++) {
            // What stands in a hole may be a sentence of its own.
            Str inner = translate(arena, holes.at[h], depth + 1);
            if (inner.len) holes.at[h] = inner;
        }
        return fill(arena, t->chinese, &holes);
    }
    return STR("");
}

// `requirement: why`, each with its own translation.
static Str by_halves(Arena *arena, Str english, int depth) {
    for (size_t i = 0; i + 2 < english.len; i++) {
        if (memcmp(english.at + i, ": ", 2) != 0) continue;
        Str left = {english.at, i}, right = {english.at + i + 2, english.len - i - 2};
        Str first = by_pattern(arena, left, false, depth + 1);
        if (!first.len) first = by_pattern(arena, left, true, depth + 1);
        if (!first.len) continue;
        Str second = translate(arena, right, depth + 1);
        return arena_printf(arena, "%.*s：%.*s", STR_FMT(first),
                            STR_FMT(second.len ? second : right));
    }
    return STR("");
}

// a; b; c, all of them known.
static Str by_parts(Arena *arena, Str english, int depth) {
    Buf buf = {0};
    size_t from = 0;
    for (size_t i = 0; i <= english.len; i++) {
        bool ends = i == english.len;
        if (!ends && (i + 2 > english.len || memcmp(english.at + i, "; ", 2) != 0)) continue;
        if (ends && from == 0) break;
        Str part = translate(arena, (Str){english.at + from, i - from}, depth + 1);
        if (!part.len) break;
        if (from) buf_add(&buf, STR("；"));
        buf_add(&buf, part);
        from = ends ? english.len + 1 : i + 2;
    }
    Str made = from > english.len ? arena_str(arena, buf_str(&buf)) : STR("");
    buf_free(&buf);
    return made;
}

// The engine's note behind a claim.
static Str without_note(Str english) {
    static const char *const notes[] = {"; tested at run time", ": tested at run time"};
    for (size_t i = 0; i < COUNT(notes); i++) {
        if (str_ends(english, notes[i])) english.len -= strlen(notes[i]);
    }
    return english;
}

// Empty if nothing of it is known.
static Str translate(Arena *arena, Str english, int depth) {
    if (!english.len || depth > MAX_DEPTH) return STR("");
    Str made = by_pattern(arena, english, false, depth);
    Str plain = made.len ? english : without_note(english);
    if (plain.len < english.len) {
        made = translate(arena, plain, depth + 1);
        if (made.len) return arena_printf(arena, "%.*s；运行时检查", STR_FMT(made));
    }
    if (!made.len) made = by_halves(arena, english, depth);
    if (!made.len) made = by_parts(arena, english, depth);
    return made.len ? made : by_pattern(arena, english, true, depth);
}

Str sentence(Arena *arena, Lang lang, Str english) {
    if (lang == LANG_EN) return english;
    Str chinese = translate(arena, english, 0);
    return chinese.len ? chinese : english;
}
