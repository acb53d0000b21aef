// plain.js - in a page without the chart library, what charts.js asks of it:
// lines over steps on a canvas, with the same options. There is no zoom.
const EDGE = {left: 78, right: 14, top: 10, bottom: 42};

function uPlot(options, data, box) {
  const ratio = window.devicePixelRatio || 1;
  const canvas = el("canvas", {width: options.width * ratio, height: options.height * ratio,
    style: `width: ${options.width}px; height: ${options.height}px`});
  this.ctx = canvas.getContext("2d");
  this.ratio = ratio;
  this.options = options;
  this.data = data;
  this.bbox = {left: EDGE.left * ratio, top: EDGE.top * ratio,
    width: (options.width - EDGE.left - EDGE.right) * ratio,
    height: (options.height - EDGE.top - EDGE.bottom) * ratio};
  this.ranges = {x: extent([data[0]]) || [0, 1], y: rangeOf(options.scales.y, data.slice(1))};
  drawAxes(this);
  data.slice(1).forEach((values, i) => drawLine(this, values, options.series[i + 1]));
  for (const draw of options.hooks.draw) draw(this);
  append(box, [canvas, legend(this, canvas)]);
}

function rangeOf(scale, lists) {
  const ends = extent(lists) || [0.1, 1];
  if (scale.distr === 3) {
    return [10 ** Math.floor(Math.log10(ends[0])), 10 ** Math.ceil(Math.log10(ends[1]) + 1e-9)];
  }
  if (scale.range) return scale.range(null, ends[0], ends[1]);
  const pad = (ends[1] - ends[0] || Math.abs(ends[1]) || 1) * 0.06;
  return [ends[0] - pad, ends[1] + pad];
}

uPlot.prototype.valToPos = function (value, axis) {
  const [low, high] = this.ranges[axis], {left, top, width, height} = this.bbox;
  if (axis === "x") return left + (high > low ? (value - low) / (high - low) : 0.5) * width;
  const share = this.options.scales.y.distr === 3 ?
    Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
  return top + (1 - share) * height;
};

function marksOf(plot, axis) {
  const [low, high] = plot.ranges[axis];
  if (axis === "x") return ticks(low, high, plot.options.width / 110).filter(Number.isInteger);
  if (plot.options.scales.y.distr !== 3) return ticks(low, high, 6);
  return ticks(Math.log10(low), Math.log10(high), 6).filter(Number.isInteger).map((k) => 10 ** k);
}

function drawAxes(plot) {
  const {ctx, ratio, bbox} = plot, end = {x: bbox.left + bbox.width, y: bbox.top + bbox.height};
  ctx.font = 12 * ratio + "px system-ui";
  ctx.fillStyle = colour("text");
  ctx.strokeStyle = colour("line");
  ctx.lineWidth = ratio;
  ctx.beginPath();
  ctx.textAlign = "right";
  for (const value of marksOf(plot, "y")) {
    const y = plot.valToPos(value, "y");
    ctx.moveTo(bbox.left, y);
    ctx.lineTo(end.x, y);
    ctx.fillText(format(value, 4), bbox.left - 8 * ratio, y + 4 * ratio);
  }
  ctx.textAlign = "center";
  for (const value of marksOf(plot, "x")) {
    const x = plot.valToPos(value, "x");
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, end.y);
    ctx.fillText(String(value), x, end.y + 16 * ratio);
  }
  ctx.fillText(say("step"), (bbox.left + end.x) / 2, end.y + 34 * ratio);
  ctx.stroke();
}

function drawLine(plot, values, series) {
  const {ctx, ratio, bbox} = plot;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.strokeStyle = ctx.fillStyle = series.stroke;
  ctx.lineWidth = series.width * ratio;
  ctx.setLineDash((series.dash || []).map((length) => length * ratio));
  ctx.beginPath();
  let pen = false;
  values.forEach((value, i) => {
    if (value === null) {
      pen = false;
      return;
    }
    const x = plot.valToPos(plot.data[0][i], "x"), y = plot.valToPos(value, "y");
    if (pen) ctx.lineTo(x, y);
    else ctx.moveTo(x, y);
    if (series.points.show) ctx.fillRect(x - 1.5 * ratio, y - 1.5 * ratio, 3 * ratio, 3 * ratio);
    pen = true;
  });
  ctx.stroke();
  ctx.restore();
}

// The names of the lines; under the pointer, their values at its step too.
function legend(plot, canvas) {
  const texts = plot.options.series.slice(1).map(() => el("span"));
  const at = el("span");
  const show = (index) => {
    clear(at).textContent = index === null ? "" : `${say("step")} ${plot.data[0][index]}`;
    texts.forEach((text, i) => {
      const value = index === null ? "" : " " + (format(plot.data[i + 1][index], 5) || "—");
      clear(text).textContent = plot.options.series[i + 1].label + value;
    });
  };
  canvas.addEventListener("mousemove", (event) => {
    const x = event.offsetX * plot.ratio;
    let best = 0;
    plot.data[0].forEach((step, i) => {
      if (Math.abs(plot.valToPos(step, "x") - x) <
          Math.abs(plot.valToPos(plot.data[0][best], "x") - x)) best = i;
    });
    show(best);
  });
  canvas.addEventListener("mouseleave", () => show(null));
  show(null);
  return el("p", {class: "legend"}, plot.options.series.slice(1).map((series, i) => el("span", {},
    svg("svg", {viewBox: "0 0 24 8", width: 24, height: 8, "aria-hidden": "true"},
      svg("line", {x1: 0, x2: 24, y1: 4, y2: 4, stroke: series.stroke, "stroke-width": 2,
        "stroke-dasharray": (series.dash || []).join(" ")})), " ", texts[i])), at);
}
