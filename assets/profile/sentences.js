// sentences.js - what the report says in whole sentences, in Chinese. {0}, {1} ... stand
// for what the report puts in; a sentence that is not here is shown as it is.
const SENTENCES = [
  // the evidence of a run
  ["{0} us of kernels and {1} us of gaps a call", "每次算子 {0} us，间隙 {1} us"],
  ["by shapes {0} a call now, {1} when fused", "按形状每次现搬运 {0}，融合后 {1}"],
  ["counted in main memory {0} a call", "主存计数每次 {0}"],
  ["at {0} GB/s and {1} TFLOP/s, at least {2} us a call",
    "按 {0} GB/s 与 {1} TFLOP/s，每次至少 {2} us"],
  // the evidence of a kernel
  ["where it ran", "运行所在的单元"],
  ["mac ratio", "mac 占比"], ["vec ratio", "vec 占比"], ["mte2 ratio", "mte2 占比"],
  ["mte3/fixpipe ratio", "mte3/fixpipe 占比"],
  ["mac ratio (mte2 busy as well)", "mac 占比（mte2 也忙）"],
  ["mac ratio (no columns of data movement)", "mac 占比（无数据搬运列）"],
  ["operations from shapes", "由形状得出的运算数"], ["bytes from shapes", "由形状得出的字节数"],
  ["bytes counted", "计数的字节数"],
  ["duration near that of one launch", "耗时接近一次下发"],
  ["the stream waits longer than it works", "流的等待长于工作"],
  ["no counters of data movement, and no limits of the chip", "无数据搬运计数，也无芯片上限"],
  ["neither counters nor shapes name one limit", "计数与形状都指不出单一瓶颈"],
  // what a run's operator asks for
  ["no operator is known for this run: a kernel of one's own, by the estimate",
    "该序列没有已知的融合算子：可自写算子，收益按估计"],
  ["no operator of torch_npu alone; a custom kernel", "torch_npu 没有单独的算子；可自写算子"],
  ["no operator of torch_npu alone; a custom kernel or a fused layer",
    "torch_npu 没有单独的算子；可自写算子或用融合层"],
  ["the mask is not counted: the fused operator makes a causal one itself",
    "未计入掩码：融合算子自行生成因果掩码"],
  ["by the shapes of inputs alone: the profile has none of outputs",
    "仅凭输入形状：该数据没有输出形状"],
  ["computes x * sigmoid(1.702 x) in place of gelu: other numbers, so try a training",
    "以 x * sigmoid(1.702 x) 代替 gelu：数值不同，请先试训"],
  ["the values' heads are narrower than the keys': try it, or pad the values",
    "value 的头维小于 key：请先试用，或把 value 补齐"],
  ["if the factor in the sigmoid is 1.702", "若 sigmoid 中的系数为 1.702"],
  ["one kernel, as torch's own gelu is, if the numbers are gelu's: approximate='tanh'",
    "若常数即 gelu 的常数，一个算子即可，torch 自带的 gelu 亦然：approximate='tanh'"],
  ["one kernel, as torch's own gelu is, if the numbers are gelu's: approximate='none'",
    "若常数即 gelu 的常数，一个算子即可，torch 自带的 gelu 亦然：approximate='none'"],
  ["if it adds a weight's gradient up", "若它在累加权重的梯度"],
  ["if the rows are the tokens of experts, each in its place", "若各行是各就其位的专家 token"],
  ["neighbours are a pair: rotary_mode='interleave'", "相邻两个为一对：rotary_mode='interleave'"],
  ["the kernel takes bf16 and fp16 as they are: leave the casts out",
    "该算子直接接受 bf16 与 fp16：去掉类型转换"],
  ["the operator sorts and gathers in one", "该算子一次完成排序与收集"],
  ["two changes of layout of one tensor: one permute can do both",
    "同一张量两次变换布局：一次 permute 即可"],
  ["a norm for each tensor, of the fused optimizers: they keep all in one",
    "逐张量求范数；融合优化器把它们放在一起"],
  ["runs on the AI CPU, with a synchronisation: use dtypes that the vector core has (float32, " +
    "float16, bfloat16, int32) or another operator",
  "在 AI CPU 上运行并需同步：改用向量核支持的类型（float32、float16、bfloat16、int32）或别的算子"],
  ["writes at random places: use torch.where with a mask, or masked_fill",
    "随机位置写入：改用带掩码的 torch.where 或 masked_fill"],
  ["writes at random places: sort the indices first, or use a one-hot matrix product where they " +
    "are few", "随机位置写入：先对索引排序，或在索引少时用 one-hot 矩阵乘"],
  ["reads at random places: use index_select, or a mask and multiplication",
    "随机位置读取：改用 index_select，或掩码与乘法"],
  ["reads element by element: use index_select along the first axis, or transposes around it",
    "逐元素读取：沿首轴用 index_select，或在前后转置"],
  ["its output has a shape that only the device knows, so the host waits: keep the mask and " +
    "multiply", "输出形状只有设备知道，主机需等待：保留掩码并相乘"],
  ["sorting integers is slow: sort float32 where the values are below 2^24",
    "整数排序慢：值小于 2^24 时改排 float32"],
  ["a choice by a mask: a multiplication or masked_fill is cheaper where the other side is a " +
    "constant", "按掩码选择：另一侧为常数时乘法或 masked_fill 更省"],
  ["computes in a dtype that the vector core has not (float64, int64, complex): use float32 or " +
    "int32", "使用向量核没有的类型计算（float64、int64、complex）：改用 float32 或 int32"],
  // what is missing, and its effect
  ["no trace_view.json: no modules and no source lines; modules are inferred from repetition",
    "无 trace_view.json：没有模块与源码行，模块由重复推断"],
  ["no info.json of the device: its cores and frequency are not known from the profile",
    "无设备的 info.json：核数与频率无从得知"],
  ["no kernel_details.csv: the kernels are read from the database",
    "无 kernel_details.csv：算子取自数据库"],
  ["neither kernel_details.csv nor a database: the kernels are read from the trace, which has " +
    "no shapes; runs cannot be proven without them",
  "既无 kernel_details.csv 也无数据库：算子取自 trace，其中没有形状，无法证明序列"],
  ["no shapes: a run cannot be proven, so only repeated sequences are named; profile with " +
    "profiler_level=Level1", "无形状：无法证明序列，只列出重复的序列；请用 profiler_level=Level1 采集"],
  ["no output shapes: what a kernel hands on is not known, so most runs cannot be proven",
    "无输出形状：不知算子交出什么，大多数序列无法证明"],
  ["bound type unknown by counters: aic_metrics=ArithmeticUtilization has no columns of data " +
    "movement; PipeUtilization has",
  "计数无法判断瓶颈：aic_metrics=ArithmeticUtilization 没有数据搬运列，PipeUtilization 有"],
  ["bound type unknown by counters: the profile was taken without aic_metrics=PipeUtilization",
    "计数无法判断瓶颈：采集时没有 aic_metrics=PipeUtilization"],
  ["no stream: the kernels of a device are taken as one sequence", "无流信息：一个设备的算子视为一个序列"],
  ["no steps: shares are of the whole time; profile with a schedule",
    "无步信息：占比按全部时间计；请用 schedule 采集"],
  ["times in exponent form: a spreadsheet dropped digits, so order and gaps are not reliable; " +
    "shares are of the kernels' time",
  "时间为科学计数：电子表格丢了位数，次序与间隙不可靠；占比按算子时间计"],
  ["the chip is not known: caps are relative, kernels and gaps now against the kernels with the " +
    "bytes of one that is fused; give --chip, or --bandwidth and --peak",
  "芯片未知：上限为相对值（现有算子与间隙的时间，比按融合后字节数折算的算子时间）；请给 --chip，或 --bandwidth 与 --peak"],
  ["the device is idle for at least {0} of the time: the host launches too slowly or waits; " +
    "fewer kernels help here more than faster ones",
  "设备至少有 {0} 的时间空闲：主机下发太慢或在等待；此处减少算子数比加快算子更有用"],
  ["on the AI CPU: {0}", "在 AI CPU 上：{0}"],
  ["{0} kinds of kernels come first after the second step: shapes change from step to step, so " +
    "kernels may be compiled again; pad or bucket the lengths",
  "有 {0} 种算子在第二步之后才出现：形状逐步变化，可能重新编译；请把长度填充或分桶"],
  ["shapes change from step to step at {0} of {1} places of a step, longest {2}; pad or bucket " +
    "the lengths", "一步的 {1} 处里有 {0} 处形状逐步变化，最长的是 {2}；请把长度填充或分桶"],
  ["{0} of {1} kinds of kernels are static (OP State): each new shape is compiled; " +
    "torch.npu.set_compile_mode(jit_compile=False) uses those that take any shape",
  "{1} 种算子里有 {0} 种是静态的（OP State）：每个新形状都要编译；" +
    "torch.npu.set_compile_mode(jit_compile=False) 使用接受任意形状的算子"],
  ["{0} left out, {1}; the first is line {2}", "略去 {0}（{1}）；首个在第 {2} 行"],
  ["the trace has no end (its export was stopped): what it has is used",
    "trace 没有结尾（导出被中断）：使用已有部分"],
  ["the trace has no launches (async_npu): kernels cannot be joined to modules and source lines",
    "trace 中没有下发（async_npu）：算子无法对应到模块与源码行"],
  ["no launch of the trace meets a kernel of the table: are they of one run?",
    "trace 的下发与表中的算子对不上：它们是同一次采集吗？"],
  ["the trace has no call stacks: no source lines; profile with with_stack=True",
    "trace 没有调用栈：没有源码行；请用 with_stack=True 采集"],
  ["the trace has no modules: they are inferred from repetition; profile with with_stack=True " +
    "or with_modules=True", "trace 没有模块：由重复推断；请用 with_stack=True 或 with_modules=True 采集"],
  ["the optimizer is {0} ({1} steps): {2} updates all tensors of a group in one",
    "优化器为 {0}（{1} 步）：{2} 一次更新一组的全部张量"],
  ["no torch_npu is installed: operators near to the runs of unknown kind were not looked up; " +
    "name its files with --docs-path",
  "未安装 torch_npu：未查找与未知序列相近的算子；可用 --docs-path 指明其文件"],
  ["{0} files of kernels are read as one; rows are counted over all of them, in the order of " +
    "their names", "{0} 个算子文件合为一个；行号按文件名次序连续计"],
  ["by its {0} cores at {1} MHz the chip is taken for a {2}; --chip names another",
    "按 {0} 核、{1} MHz 判断芯片为 {2}；可用 --chip 另行指定"],
];

const PATTERNS = SENTENCES.map(([english, chinese]) => [new RegExp("^" +
  english.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replace(/\\\{\d\\\}/g, "(.+?)") + "$"), chinese]);

function translated(text) {
  for (const [pattern, chinese] of PATTERNS) {
    const found = text.match(pattern);
    if (found) return chinese.replace(/\{(\d)\}/g, (whole, i) => found[Number(i) + 1]);
  }
  return null;
}

// A sentence of the report in the language of the page; of several joined by semicolons
// each that is known.
function tell(text) {
  if (!text || language === 0) return text;
  return translated(text) ||
    text.split("; ").map((part) => translated(part) || part).join("；");
}
