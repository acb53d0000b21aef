// chart.js - the roofline: operations a byte against operations a second.
function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
}

// {x, y} in operations a byte and Gop/s; null where something is not known.
function point(operations, bytes, us) {
  const [o, b, t] = [operations, bytes, us].map(finite);
  return o > 0 && b > 0 && t > 0 ? {x: o / b, y: o / t / 1e3} : null;
}

// Where a run stands, and where a fused kernel would at best.
function placeOf(run) {
  const time = run.device_us + run.gap_us, best = finite(run.cap) ? time / run.cap : null;
  return {now: point(run.operations, run.bytes, time),
    fused: point(run.operations, run.external_bytes, best)};
}

function roofAt(chip, x) {
  const bandwidth = finite(chip.gb_per_s), peak = finite(chip.tflop_per_s);
  return bandwidth === null || peak === null ? null : Math.min(peak * 1e3, bandwidth * x);
}

// The points of all series on one sorted list of x, as the chart library has it.
function aligned(series) {
  const xs = [...new Set(series.flatMap((s) => s.map((p) => p.x)))].sort((a, b) => a - b);
  const place = new Map(xs.map((x, i) => [x, i]));
  return [xs, ...series.map((points) => {
    const list = new Array(xs.length).fill(null);
    points.forEach((p) => { list[place.get(p.x)] = p.y; });
    return list;
  })];
}

// 10, 100, 1k, ..., 1M; small ones as they are.
function decade(value) {
  const unit = [[1e6, "M"], [1e3, "k"]].find(([size]) => value >= size);
  return unit ? format(value / unit[0], 3) + unit[1] : format(value, 3);
}

function decades(low, high) {
  const found = [];
  for (let power = Math.round(Math.log10(low)); power <= Math.round(Math.log10(high)); power++) {
    found.push(Number("1e" + power));
  }
  return found;
}

function logAxis(label, size) {
  const line = {stroke: colour("line"), width: 1};
  return {label, size, stroke: colour("text"), grid: line, ticks: line, font: "12px system-ui",
    splits: (u, axis, low, high) => decades(low, high), filter: (u, marks) => marks,
    values: (u, marks) => marks.map((v) => (v === null ? "" : decade(v)))};
}

// An arrow from one place of the drawing to another.
function arrow(ctx, from, to, head) {
  const turn = Math.atan2(to[1] - from[1], to[0] - from[0]);
  ctx.beginPath();
  ctx.moveTo(...from);
  ctx.lineTo(...to);
  [2.7, -2.7].forEach((side) => {
    ctx.moveTo(...to);
    ctx.lineTo(to[0] + head * Math.cos(turn + side), to[1] + head * Math.sin(turn + side));
  });
  ctx.stroke();
}

const NUMBERED = 40; // runs that have their number in the drawing

// Where the number of a point can stand: near it, on no other number or point and
// inside the plot. `taken` are places; null where all is full.
function roomNear([x, y], taken, frame, ratio) {
  const fits = ([px, py]) => px > frame.left + 8 * ratio && px < frame.left + frame.width - 8 * ratio &&
    py > frame.top + 8 * ratio && py < frame.top + frame.height - 8 * ratio &&
    !taken.some(([tx, ty]) => Math.abs(tx - px) < 14 * ratio && Math.abs(ty - py) < 12 * ratio);
  for (const radius of [15, 26, 38, 52, 68]) {
    for (let k = 0; k < 12; k++) {
      const turn = (3 + k) * Math.PI / 6; // below first
      const place = [x + radius * ratio * Math.cos(turn), y + radius * ratio * Math.sin(turn)];
      if (fits(place)) return place;
    }
  }
  return null;
}

// An arrow from now to fused for each run, with the run's number beside its point.
function arrows(places) {
  return (u) => {
    const ctx = u.ctx, ratio = window.devicePixelRatio || 1;
    const at = (p) => [u.valToPos(p.x, "x", true), u.valToPos(p.y, "y", true)];
    const taken = places.flatMap((p) => [p.now, p.fused].filter(Boolean).map(at));
    ctx.save();
    ctx.strokeStyle = colour("muted");
    ctx.fillStyle = colour("text");
    ctx.lineWidth = ratio;
    ctx.setLineDash([]);
    ctx.font = `${12 * ratio}px system-ui`;
    ctx.textAlign = "center";
    ctx.textBaseline = "middle";
    places.forEach((p) => { if (p.fused) arrow(ctx, at(p.now), at(p.fused), 7 * ratio); });
    places.slice(0, NUMBERED).forEach((p) => {
      const from = at(p.now), place = roomNear(from, taken, u.bbox, ratio);
      if (!place) return;
      taken.push(place);
      if (Math.hypot(place[0] - from[0], place[1] - from[1]) > 20 * ratio) { // its line to the point
        ctx.globalAlpha = 0.5;
        ctx.beginPath();
        ctx.moveTo(...from);
        ctx.lineTo(...place);
        ctx.stroke();
        ctx.globalAlpha = 1;
      }
      const width = (6 + 5 * String(p.number).length) * ratio;
      ctx.save();
      ctx.fillStyle = colour("back");
      ctx.fillRect(place[0] - width / 2, place[1] - 7 * ratio, width, 14 * ratio);
      ctx.restore();
      ctx.fillText(String(p.number), ...place);
    });
    ctx.restore();
  };
}

// Whole decades around the values.
function range(points, key) {
  const values = points.map((p) => p[key]);
  const low = Math.floor(Math.log10(Math.min(...values) / 1.5));
  const high = Math.ceil(Math.log10(Math.max(...values) * 1.5));
  return [Math.pow(10, low), Math.pow(10, high)];
}

function roofPoints(chip, low, high) {
  const found = [];
  const peak = finite(chip.tflop_per_s), bandwidth = finite(chip.gb_per_s);
  if (peak === null || bandwidth === null) return found;
  const ridge = peak * 1e3 / bandwidth;
  [low, ridge, high].filter((x) => x >= low && x <= high).sort((a, b) => a - b)
    .forEach((x) => found.push({x, y: roofAt(chip, x)}));
  return found;
}

function dots(label, name, size) {
  return {label, stroke: colour(name), fill: colour(name), paths: () => null,
    points: {show: true, size, fill: colour(name), stroke: colour(name)}};
}

function roofline(box, data) {
  const places = data.runs.map((run, i) => Object.assign(placeOf(run), {number: i + 1}))
    .filter((p) => p.now);
  if (!places.length) {
    append(clear(box), [say("no_roofline")]);
    return;
  }
  const now = places.map((p) => p.now), fused = places.map((p) => p.fused).filter(Boolean);
  const x = range([...now, ...fused], "x"), y = range([...now, ...fused], "y");
  const roof = roofPoints(data.chip, x[0], x[1]);
  const kernels = data.kernels.map((k) => point(k.operations, k.bytes, k.device_us))
    .filter((p) => p && p.x > x[0] && p.x < x[1] && p.y > y[0] && p.y < y[1]);
  const line = {label: say("roof"), stroke: colour("bad"), width: 1.5, dash: [6, 4], spanGaps: true,
    points: {show: false}};
  const limit = roof.length ? [line] : [];
  clear(box);
  new uPlot({
    width: Math.max(box.clientWidth || 900, 280), height: 440,
    scales: {x: {time: false, distr: 3, range: x}, y: {distr: 3, range: y}},
    axes: [logAxis(say("intensity"), 50), logAxis(say("rate"), 80)],
    legend: {live: false}, cursor: {points: {show: false}},
    series: [{label: say("intensity")}, dots(say("kernel_points"), "again", 4),
      dots(say("now"), "base", 10), dots(say("fused"), "fused", 10), ...limit],
    hooks: {draw: [arrows(places)]},
  }, aligned([kernels, now, fused, ...limit.map(() => roof)]), box);
}
