// numbers.js - the arithmetic of the page: the loss gate as npufuse has it,
// smoothing, quantiles, fewer points for a drawing.
const LOSS_FLOOR = 1e-3; // below this a relative difference says nothing
const DEFAULT_LIMIT = 0.01;

// The number, or null for whatever is none.
function finite(value) {
  return typeof value === "number" && isFinite(value) ? value : null;
}

function format(value, digits) {
  const number = finite(value);
  if (number === null) return null;
  if (number === 0) return "0";
  const size = Math.abs(number);
  if (size < 1e-4 || size >= 1e7) return number.toExponential((digits || 5) - 1)
    .replace(/\.?0+e/, "e");
  return String(Number(number.toPrecision(digits || 5)));
}

// A number of the data; what is none says so (never an empty cell).
function figure(value, digits) {
  const text = format(value, digits);
  if (text !== null) return text;
  if (typeof value === "string" && value !== "") return el("strong", {class: "bad"}, value);
  return el("span", {class: "bad"}, say("no_value"));
}

function seconds(value) {
  const number = finite(value);
  if (number === null) return figure(value);
  return number < 10 ? format(number * 1e3, 5) + " ms" : format(number, 5) + " s";
}

function percent(value) {
  const number = finite(value);
  return number === null ? say("missing") : format(number * 100, 3) + " %";
}

// {abs, rel, ok}: abs and rel are null where a loss is no number.
function compareLosses(base, other, limit) {
  const a = finite(base), b = finite(other);
  if (a === null || b === null) return {abs: null, rel: null, ok: false};
  const abs = Math.abs(a - b);
  const rel = abs / Math.max(Math.abs(a), LOSS_FLOOR);
  return {abs, rel, ok: rel <= limit};
}

function limitOf(data) {
  const limit = finite((data.thresholds || {}).max_rel_diff);
  return limit === null ? DEFAULT_LIMIT : limit;
}

// The first step beyond the limit; null if there is none. Step 0 counts.
function firstFailing(metrics, limit) {
  for (const row of metrics) {
    if (!compareLosses(row.base_loss, row.fused_loss, limit).ok) return row.step;
  }
  return null;
}

// Exponential mean with its start corrected; gaps stay gaps.
function smooth(values, weight) {
  if (!weight) return values;
  let sum = 0, norm = 0;
  return values.map((value) => {
    if (value === null) return null;
    sum = sum * weight + value * (1 - weight);
    norm = norm * weight + (1 - weight);
    return sum / norm;
  });
}

function quantile(sorted, share) {
  if (!sorted.length) return null;
  const at = (sorted.length - 1) * share, low = Math.floor(at);
  const high = Math.min(low + 1, sorted.length - 1);
  return sorted[low] + (sorted[high] - sorted[low]) * (at - low);
}

function extent(lists) {
  let low = Infinity, high = -Infinity;
  for (const list of lists) {
    for (const value of list) {
      if (value === null) continue;
      if (value < low) low = value;
      if (value > high) high = value;
    }
  }
  return low <= high ? [low, high] : null;
}

// Indices to draw: lowest and highest of each of `buckets` stretches, and
// every end of a gap.
function thin(values, buckets) {
  if (values.length <= 2 * buckets) return values.map((_, i) => i);
  const kept = [];
  for (let k = 0; k < buckets; k++) {
    const from = Math.floor(k * values.length / buckets);
    const to = Math.floor((k + 1) * values.length / buckets);
    let low = -1, high = -1, gap = -1;
    for (let i = from; i < to; i++) {
      if (values[i] === null) { gap = i; continue; }
      if (low < 0 || values[i] < values[low]) low = i;
      if (high < 0 || values[i] > values[high]) high = i;
    }
    const found = [...new Set([low, high, gap].filter((i) => i >= 0))];
    kept.push(...found.sort((a, b) => a - b));
  }
  return kept;
}

// Round places for the marks of an axis from `low` to `high`.
function ticks(low, high, count) {
  const raw = (high - low) / Math.max(count, 1) || 1;
  const power = Math.pow(10, Math.floor(Math.log10(raw)));
  const step = power * [1, 2, 5, 10].find((n) => n * power >= raw);
  const marks = [];
  for (let k = Math.ceil(low / step); k * step <= high + step * 1e-9; k++) {
    marks.push(Number((k * step).toPrecision(12)));
  }
  return marks;
}
