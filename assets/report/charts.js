// charts.js - drawings: losses and their difference by uPlot, runs as strips.
const DRAWN_MAX = 2000; // stretches of a line that are drawn

// Colours come from the style sheet, so that dark mode and print have theirs.
function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
}

const charts = []; // those of the page, for a redraw when the theme changes

function axes(label) {
  const line = {stroke: colour("line"), width: 1};
  const base = {stroke: colour("text"), grid: line, ticks: line, font: "12px system-ui"};
  return [Object.assign({label: say("step")}, base), Object.assign({label, size: 70,
    values: (u, marks) => marks.map((v) => (v === null ? "" : format(v, 4)))}, base)];
}

// A vertical line at `step`, a horizontal one at `limit`; null: none.
function marks(step, limit) {
  return (u) => {
    const {left, top, width, height} = u.bbox, ctx = u.ctx;
    ctx.save();
    ctx.strokeStyle = ctx.fillStyle = colour("bad");
    ctx.setLineDash([6, 4]);
    ctx.font = 12 * (window.devicePixelRatio || 1) + "px system-ui";
    ctx.beginPath();
    if (step !== null) {
      const x = u.valToPos(step, "x", true);
      if (x >= left && x <= left + width) {
        ctx.moveTo(x, top);
        ctx.lineTo(x, top + height);
        const isRight = x > left + width / 2; // the label stays inside
        ctx.textAlign = isRight ? "right" : "left";
        ctx.fillText(say("first_fail", step), x + (isRight ? -6 : 6), top + height / 2);
      }
    }
    if (limit !== null) {
      const y = u.valToPos(limit, "y", true);
      if (y >= top && y <= top + height) {
        ctx.moveTo(left, y);
        ctx.lineTo(left + width, y);
        ctx.textAlign = "right";
        ctx.fillText(say("limit", limit), left + width - 6, y - 6);
      }
    }
    ctx.stroke();
    ctx.restore();
  };
}

// What is drawn of long lists: the same steps for each list.
function thinned(steps, lists) {
  const kept = new Set([0, steps.length - 1]);
  lists.forEach((list) => thin(list, DRAWN_MAX).forEach((i) => kept.add(i)));
  const at = [...kept].filter((i) => i >= 0).sort((a, b) => a - b);
  return [at.map((i) => steps[i]), ...lists.map((list) => at.map((i) => list[i]))];
}

// {label, values, colour, dash} each
function lineChart(box, steps, series, options) {
  const lists = series.map((s) => s.values);
  const draw = () => {
    clear(box);
    if (!steps.length) return;
    charts.push(new uPlot({
      width: Math.max(box.clientWidth || 900, 280), height: 260,
      scales: {x: {time: false}, y: options.log ? {distr: 3} : options.range ?
        {range: options.range} : {}},
      axes: axes(options.label),
      legend: {live: true},
      series: [{label: say("step")}].concat(series.map((s) => ({
        label: s.label, stroke: colour(s.colour), dash: s.dash, width: 1.5,
        points: {show: steps.length < 80},
      }))),
      hooks: {draw: [marks(options.mark === undefined ? null : options.mark,
        options.limit === undefined ? null : options.limit)]},
    }, thinned(steps, lists), box));
  };
  draw();
  return draw;
}

function positive(values, log) {
  return log ? values.map((v) => (v !== null && v > 0 ? v : null)) : values;
}

// ---- step times: a row for each run -----------------------------------------------

const ROW = 34, LEFT = 60, RIGHT = 20;

function strip(run, row, x, range) {
  const y = row * ROW + ROW / 2, kept = (run.times || []).slice(run.dropped || 0).map(finite)
    .filter((t) => t !== null);
  const dots = thin(kept, 150).map((i) => kept[i]).filter((t) => t >= range[0] && t <= range[1]);
  const kind = run.arm === "fused" ? "fused" : "base";
  return svg("g", {class: "run " + kind},
    svg("text", {x: LEFT - 8, y: y + 4, "text-anchor": "end"}, run.name),
    dots.map((t, i) => svg("circle", {cx: x(t), cy: y + ((i * 7) % 13) - 6, r: 1.8})),
    finite(run.median) === null ? null :
      svg("line", {class: "median", x1: x(run.median), x2: x(run.median), y1: y - 12, y2: y + 12}));
}

function timesDrawing(performance) {
  const runs = performance.runs || [];
  const all = runs.flatMap((run) => (run.times || []).slice(run.dropped || 0)).map(finite)
    .filter((t) => t !== null).sort((a, b) => a - b);
  if (!all.length) return el("p", {}, missing());
  const range = [quantile(all, 0.01), quantile(all, 0.99)];
  const pad = (range[1] - range[0]) * 0.1 || range[1] * 0.1;
  range[0] -= pad;
  range[1] += pad;
  const width = 900, height = runs.length * ROW + 30;
  const x = (t) => LEFT + (t - range[0]) / (range[1] - range[0]) * (width - LEFT - RIGHT);
  const base = runs.filter((r) => r.arm !== "fused").map((r) => finite(r.median))
    .filter((m) => m !== null).sort((a, b) => a - b);
  const middle = quantile(base, 0.5), noise = finite(performance.noise);
  const band = middle === null || noise === null ? null : svg("rect", {class: "band",
    x: x(middle * (1 - noise / 2)), width: Math.max(1, x(middle * (1 + noise / 2)) -
      x(middle * (1 - noise / 2))), y: 0, height: runs.length * ROW});
  const outside = all.filter((t) => t < range[0] || t > range[1]).length;
  return el("div", {class: "chart"}, svg("svg", {class: "times", viewBox: `0 0 ${width} ${height}`,
      role: "img", "aria-label": say("chart_of", say("times"))},
    band, runs.map((run, i) => strip(run, i, x, range)),
    ticks(range[0], range[1], 6).map((t) => svg("g", {class: "tick"},
      svg("line", {x1: x(t), x2: x(t), y1: 0, y2: runs.length * ROW}),
      svg("text", {x: x(t), y: height - 10, "text-anchor": "middle"}, seconds(t))))),
    el("p", {class: "note"}, band ? say("band") : "", " ", outside ? say("outside", outside) : ""));
}
