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

function logAxis(label, size) {
  const line = {stroke: colour("line"), width: 1};
  return {label, size, stroke: colour("text"), grid: line, ticks: line, font: "12px system-ui",
    values: (u, marks) => marks.map((v) => (v === null ? "" : format(v, 3)))};
}

// An arrow from now to fused for each run, with the run's number; numbers that would
// lie on each other stand below each other.
function arrows(places) {
  return (u) => {
    const ctx = u.ctx, ratio = window.devicePixelRatio || 1, used = [];
    const at = (p) => [u.valToPos(p.x, "x", true), u.valToPos(p.y, "y", true)];
    ctx.save();
    ctx.strokeStyle = colour("muted");
    ctx.fillStyle = colour("text");
    ctx.lineWidth = ratio;
    ctx.setLineDash([]);
    ctx.font = `${12 * ratio}px system-ui`;
    places.forEach((place) => {
      const [x, y] = at(place.now);
      if (place.fused) {
        const [ex, ey] = at(place.fused), turn = Math.atan2(ey - y, ex - x), head = 7 * ratio;
        ctx.beginPath();
        ctx.moveTo(x, y);
        ctx.lineTo(ex, ey);
        [2.7, -2.7].forEach((side) => {
          ctx.moveTo(ex, ey);
          ctx.lineTo(ex + head * Math.cos(turn + side), ey + head * Math.sin(turn + side));
        });
        ctx.stroke();
      }
      let ty = y + 16 * ratio;
      while (used.some(([ux, uy]) => Math.abs(ux - x) < 16 * ratio && Math.abs(uy - ty) < 12 * ratio)) {
        ty += 12 * ratio;
      }
      used.push([x, ty]);
      ctx.fillText(String(place.number), x - 4 * ratio, ty);
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
  clear(box);
  new uPlot({
    width: Math.max(box.clientWidth || 900, 280), height: 440,
    scales: {x: {time: false, distr: 3, range: x}, y: {distr: 3, range: y}},
    axes: [logAxis(say("intensity"), 50), logAxis(say("rate"), 80)],
    legend: {live: false}, cursor: {points: {show: false}},
    series: [{label: say("intensity")}, dots(say("kernel_points"), "again", 4),
      dots(say("now"), "base", 10), dots(say("fused"), "fused", 10), line],
    hooks: {draw: [arrows(places)]},
  }, aligned([kernels, now, fused, roof]), box);
}
