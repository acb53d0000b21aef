// filled_in.js - a page that people fill in: REPORT_DATA, with the members that
// users of the skill know, becomes the data of the page. What it cannot hold
// has no section here; what it holds without a value is missing.
const FILLED_IN = ["verdict", "about", "losses", "times", "diff", "commands", "step_table"];

function numbersOf(rows, name) {
  return rows.filter((row) => row.phase !== "wait" && row.phase !== "warmup")
    .map((row) => finite(row[name])).filter((value) => value !== null);
}

function runOf(name, arm, times) {
  const sorted = times.slice().sort((a, b) => a - b);
  return {name, arm, median: quantile(sorted, 0.5), p95: quantile(sorted, 0.95), dropped: 0, times};
}

// One run a side: times are shown, and no verdict on speed follows.
function timesOf(rows) {
  const base = numbersOf(rows, "base_time"), fused = numbersOf(rows, "fused_time");
  if (!base.length || !fused.length) return null;
  const runs = [runOf("A", "baseline", base), runOf("B", "fused", fused)];
  return {speed: "undecided", ratio: runs[1].median / runs[0].median, low: null, high: null,
    minimum_effect: null, noise: null, reason: "single_run", runs};
}

function filledIn(given) {
  const rows = Array.isArray(given.metrics) ? given.metrics : [];
  const differences = rows.map((row) => compareLosses(row.base_loss, row.fused_loss, 0).rel)
    .filter((rel) => rel !== null);
  const differs = differences.length > 0 && firstFailing(rows, limitOf(given)) !== null;
  const worst = extent([differences]);
  return Object.assign({performance: timesOf(rows),
    stages: [{name: "loss", status: differs ? "fail" : "", reason: "", emulated: false}],
    lang: "zh"}, given, {metrics: rows, sections: FILLED_IN, filled_in: "REPORT_DATA",
    thresholds: Object.assign({worst_rel_diff: worst && worst[1],
      common_steps: differences.length}, given.thresholds)});
}

function fillIn() {
  const place = el("script", {type: "application/json", id: "data"});
  try {
    place.textContent = JSON.stringify(filledIn(REPORT_DATA));
  } catch (error) {
    place.textContent = ""; // the page says that it cannot be read
  }
  document.body.appendChild(place);
}
