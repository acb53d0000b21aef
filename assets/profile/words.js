// words.js - every phrase of the page, English and Chinese side by side.
const WORDS = {
  missing: ["unknown", "未知"],
  lang_switch: ["中文", "English"],
  skip_link: ["Skip to the content", "跳到正文"],
  page_title: ["Where the device time goes", "设备时间去向"],
  unreadable: ["The data of this page cannot be read: {0}", "本页数据无法读取：{0}"],
  colon: [": ", "："],
  comma: [", ", "，"],
  source: ["Source", "来源"],
  made_by: ["Made by npufuse {0}", "由 npufuse {0} 生成"],
  summary: ["The profile", "概况"],
  kernels_time: ["Kernels", "算子"],
  communication: ["Communication", "通信"],
  steps_time: ["Steps, first to last", "各步合计"],
  attributed: ["In runs that a fused operator can replace", "可由融合算子替换的序列"],
  attributed_value: ["{0}, {1} of the kernels' time", "{0}，占算子时间 {1}"],
  chip: ["Chip", "芯片"],
  chip_unknown: ["not known: caps are relative (kernels and gaps now / kernels with the bytes of one " +
    "that is fused)",
    "未知：上限为相对值（现有算子与间隙的时间 / 按融合后字节数折算的算子时间）"],
  chip_value: ["{0} GB/s, {1} TFLOP/s, a launch {2} us", "{0} GB/s，{1} TFLOP/s，一次下发 {2} us"],
  roofline: ["Roofline of the runs", "各序列的 Roofline"],
  roofline_note: ["Both axes are logarithmic. Operations: of a matrix product its multiplications " +
    "and additions, of any other kernel one for each element it writes. The arrow goes from a run " +
    "as it is, with its gaps, to the best that a fused kernel can reach; the numbers are those of " +
    "the table.",
  "两轴均为对数。运算数：矩阵乘计乘加次数，其他算子每写出一个元素计一次。箭头由现状（含间隙）指向" +
    "融合算子最多可达之处，数字对应下表序号。"],
  no_roofline: ["No run has shapes, so there is nothing to draw.", "没有带形状的序列，无图可画。"],
  intensity: ["operations a byte", "每字节运算数"],
  rate: ["Gop/s", "Gop/s"],
  now: ["now", "现状"],
  fused: ["fused, at most", "融合后上限"],
  kernel_points: ["single kernels", "单个算子"],
  roof: ["limit of the chip", "芯片上限"],
  runs: ["Runs", "序列"],
  no_runs: ["No run was found that a fused operator can replace.", "未找到可由融合算子替换的序列。"],
  number: ["#", "序号"],
  pattern: ["Run", "序列"],
  custom: ["custom fused kernel", "自定义融合算子"],
  calls: ["Calls", "次数"],
  device_ms: ["Device ms", "设备 ms"],
  gap_ms: ["Gaps ms", "间隙 ms"],
  share: ["Of the steps", "占步长"],
  cap: ["Speed-up at most", "加速上限"],
  step_cap: ["Step at most", "整步上限"],
  thumb_value: ["about 2x is usual", "通常约 2 倍"],
  near: ["Near, by the texts of {0}", "按 {0} 的文本相近的算子"],
  dynamic: ["Shapes that change", "变化的形状"],
  kinds: ["Compiled kernels", "算子编译方式"],
  kinds_value: ["{0} kinds static, {1} dynamic", "静态 {0} 种，动态 {1} 种"],
  no_state: ["no column OP State", "无 OP State 列"],
  changing: ["Changing call sites", "形状变化的调用点"],
  changing_value: ["{0} of {1}, over {2} steps", "{2} 步中 {1} 处里有 {0} 处"],
  not_compared: ["no two steps could be compared", "没有两步可以比较"],
  late: ["Kinds first seen after the second step", "第二步之后才出现的算子种类"],
  different: ["Shapes", "形状数"],
  steps: ["Steps", "步数"],
  change_rows: ["Rows", "行"],
  bound: ["Bound by", "瓶颈"],
  where: ["Where", "位置"],
  rows: ["First at rows", "首次出现行"],
  part_of: ["part of {0}", "属于 {0}"],
  not_contiguous: ["not contiguous", "不连续"],
  relative: ["relative", "相对值"],
  kernels: ["Kernels", "算子"],
  kernels_shown: ["The {0} with the longest time of {1} kinds.", "共 {1} 种，列出耗时最长的 {0} 种。"],
  type: ["Kernel", "算子"],
  shapes: ["Input", "输入"],
  evidence: ["Evidence", "依据"],
  notes: ["What is missing, and its effect", "缺失信息及其影响"],
  compute: ["compute", "计算"], memory: ["memory", "访存"], launch: ["launch", "下发"],
  communication_bound: ["communication", "通信"], aicpu: ["AICPU", "AICPU"],
  unknown: ["unknown", "未知"],
  forward: ["forward", "前向"], backward: ["backward", "反向"], optimizer: ["optimizer", "优化器"],
  any: ["any", "不定"],
};

let language = 0; // index into each pair

// The phrase `key` with {0}, {1} ... replaced; a word that is not in the table
// is data and stands for itself.
function say(key, ...values) {
  const pair = Object.prototype.hasOwnProperty.call(WORDS, key) ? WORDS[key] : null;
  if (!pair) return String(key);
  return pair[language].replace(/\{(\d)\}/g, (whole, i) => String(values[i]));
}
