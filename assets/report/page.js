// page.js - the page, top to bottom: the verdict first, then what it rests on.
let DATA = {};

function section(name, ...children) {
  return el("section", {id: name, "aria-labelledby": "h-" + name},
    el("h2", {id: "h-" + name}, say(name)), children);
}

function slugOf(data) {
  const id = (data.candidate || {}).id || (data.basic_info || {}).candidate_name || "candidate";
  const own = (data.candidates || []).find((candidate) => candidate.id === id);
  if (own && own.slug) return own.slug;
  return String(id).replace(/[^A-Za-z0-9._-]/g, "-");
}

function metricsFile(data) {
  return data.filled_in || slugOf(data) + ".report.json";
}

function hasTimes(data) {
  return Boolean(data.performance && (data.performance.runs || []).length);
}

// ---- the verdict ---------------------------------------------------------------------

const SENTENCES = {Pass: "say_pass", Fail: "say_fail", Skip: "say_skip", Blocked: "say_blocked"};

function sentence(data, word) {
  if (word !== "Fail") return say(SENTENCES[word] || "say_unknown");
  const failed = (data.stages || []).some((s) => s.status === "fail" && s.name !== "performance");
  return say(failed ? "say_fail_precision" : "say_fail_speed");
}

function badge(data) {
  const info = data.basic_info || {}, end = data.conclusion || {};
  const word = info.final_conclusion;
  return el("section", {id: "verdict", class: "badge " + (SHAPE_OF[word] || "skip")},
    el("p", {class: "word"}, shape(word), say(word || "missing"), " ",
      end.emulated ? emulatedTag() : null),
    el("p", {class: "sentence"}, sentence(data, word)),
    el("p", {}, el("strong", {}, say("reason"), say("colon")), end.reason ? end.reason : missing()),
    data.filled_in && !data.conclusion ? null :
      el("p", {class: "answers"}, say("answer"), say("colon"), verdict(end.answer), " · ",
        say("performance"), say("colon"), verdict(end.speed)));
}

function aboutSection(data) {
  const c = data.candidate || {}, info = data.basic_info || {}, by = data.confirmation || {};
  const place = c.file ? `${c.file}:${c.start_line}-${c.end_line}` : "";
  return section("about", facts([
    [say("candidate"), code(c.id || info.candidate_name)], ...(data.filled_in ? [] : [
      [say("place"), code(place)], [say("function_name"), code(c.qualname)],
      [say("api"), code(c.api)],
      [say("rule"), isMissing(c.rule) ? missing() : `${c.rule} (${c.rule_version || "?"})`],
      [say("variant"), shown(c.variant)], [say("scan_verdict"), verdict(c.verdict)],
      [say("switch_name"), code(c.switch)],
      [say("confirmed"), isMissing(by.by) ? missing() : [say(by.by), " · ",
        shown(by.confirmed_at), by.statement ? [" · “", by.statement, "”"] : null]],
      [say("risks"), isMissing(c.risks) ? say("none") :
        el("ul", {}, c.risks.map((r) => el("li", {}, r)))]]),
    [say("task_name"), shown(info.task_name)], [say("work_dir"), code(info.work_dir)],
    [say("hardware"), shown(info.hardware)], [say("world_size"), shown(info.world_size)],
    [say("rank_count"), shown(info.rank_count)],
    [say("baseline_status"), verdict(info.baseline_status)],
    [say("fused_status"), verdict(info.fused_status)]]));
}

function candidatesSection(data) {
  const own = (data.candidate || {}).id;
  return section("candidates", simpleTable(say("candidates"),
    [say("candidate"), say("state"), say("answer"), say("reason")],
    (data.candidates || []).map((c) => [c.id === own ? [code(c.id), ` (${say("this_page")})`] :
      el("a", {href: encodeURI(String(c.html || ""))}, c.id), verdict(c.state), verdict(c.answer),
      el("td", {class: "wide"}, shown(c.reason))])));
}

function stagesSection(data) {
  return section("stages", simpleTable(say("stages"), [say("stage"), say("result"), say("reason")],
    (data.stages || []).map((s) => [say(s.name), el("td", {}, isMissing(s.status) ? missing() :
      verdict(s.status), " ", s.emulated ? emulatedTag() : null),
    el("td", {class: "long"}, shown(s.reason))])));
}

// ---- losses ----------------------------------------------------------------------------

function repeatAt(data, steps) {
  const found = new Map((data.repeat || []).map((r) => [r.step, finite(r.again_loss)]));
  return steps.map((step) => (found.has(step) ? found.get(step) : null));
}

function lossControls(redraw, settings) {
  const slider = el("input", {type: "range", min: 0, max: 0.95, step: 0.05, value: settings.smooth});
  const shownWeight = el("span", {}, say("smoothing", settings.smooth));
  slider.addEventListener("input", () => {
    settings.smooth = Number(slider.value);
    clear(shownWeight).textContent = say("smoothing", settings.smooth);
    redraw();
  });
  return el("p", {class: "controls"}, el("label", {}, el("input", {type: "checkbox", onchange:
    (event) => { settings.log = event.target.checked; redraw(); }}), " ", say("log_scale")), " ",
  el("label", {}, shownWeight, " ", slider), " ",
  DATA.filled_in ? null : el("span", {class: "note"}, say("zoom_hint")));
}

// The gate's own first failing step, which may be none where a log prints few
// digits; `computed` where there is no such record.
function recordedFirst(data, computed) {
  const told = (data.thresholds || {}).first_fail_step;
  const passed = (data.stages || []).some((s) => s.name === "loss" && s.status === "pass");
  return Number.isInteger(told) || passed ? (told === undefined ? null : told) : computed;
}

function lossFacts(data, limit, computed, rows) {
  const first = recordedFirst(data, computed), t = data.thresholds || {};
  const told = t.first_fail_step === undefined ? null : t.first_fail_step;
  const bad = rows.filter((r) => finite(r.base_loss) === null ||
    finite(r.fused_loss) === null).length;
  return [el("p", {}, say("limit", limit), " · ", el("strong", {class: first === null ? "" : "bad"},
    first === null ? say("first_fail_none") : say("first_fail", first)), " · ",
  say("worst", format(t.worst_rel_diff, 3) || say("missing")), " · ",
  say("repeat_rel", format(t.repeat_rel_diff, 3) || say("missing")), " · ",
  say("common", isMissing(t.common_steps) ? say("missing") : t.common_steps),
  bad ? [" · ", say("no_number", bad)] : null),
  told !== computed && data.thresholds ? el("p", {class: "note"}, say("first_fail_differs",
    told === null ? say("none") : told, computed === null ? say("none") : computed)) : null];
}

function lossSection(data) {
  const rows = (data.metrics || []).filter((r) => Number.isInteger(r.step));
  if (!rows.length) return section("losses", el("p", {}, say("no_losses")));
  const limit = limitOf(data), steps = rows.map((r) => r.step);
  const compared = rows.some((r) => finite(r.fused_loss) !== null);
  const first = compared ? firstFailing(rows, limit) : null, mark = recordedFirst(data, first);
  const lists = {baseline: rows.map((r) => finite(r.base_loss)),
    fused: rows.map((r) => finite(r.fused_loss)), repeat: repeatAt(data, steps)};
  const rel = rows.map((r) => compareLosses(r.base_loss, r.fused_loss, limit).rel);
  const upper = el("div", {class: "chart", role: "img", "aria-label": say("chart_of",
    say("loss_overlay"))}), lower = el("div", {class: "chart", role: "img", "aria-label":
    say("chart_of", say("rel_by_step"))});
  const settings = {log: false, smooth: 0};
  const draw = () => {
    const line = (name, tone, dash) => ({label: say(name), colour: tone, dash,
      values: positive(smooth(lists[name], settings.smooth), settings.log)});
    lineChart(upper, steps, [line("baseline", "base"), line("repeat", "again", [2, 3]),
      line("fused", "fused", [8, 3])].filter((s) => extent([s.values])),
    {log: settings.log, label: say("losses"), mark});
    lineChart(lower, steps, [{label: say("rel_diff"), colour: "fused", values: rel}],
      {label: say("rel_diff"), mark, limit,
        range: (u, low, high) => [0, high > 0 ? high * 1.15 : limit]});
  };
  later.push(draw);
  return section("losses", lossFacts(data, limit, first, rows), lossControls(draw, settings),
    el("h3", {}, say("loss_overlay")), upper, el("h3", {}, say("rel_by_step")),
    el("p", {class: "note"}, say("rel_formula")), lower,
    sourceLine(`baseline.jsonl, ${slugOf(data)}.jsonl`));
}

// ---- step times ----------------------------------------------------------------------------

function cover(data) {
  const failed = (data.stages || []).some((s) => s.status === "fail" && s.name !== "performance");
  if (failed) return "cover_precision";
  if ((data.conclusion || {}).emulated) return "cover_emulated";
  return hasTimes(data) ? null : "cover_not_measured";
}

function timesSection(data) {
  const why = cover(data);
  if (why) return section("times", el("p", {class: "cover"}, say(why)));
  const p = data.performance;
  return section("times", el("p", {}, verdict(p.speed), " · ", say("ratio"), say("colon"),
    finite(p.low) === null ? figure(p.ratio, 4) :
      say("ratio_is", format(p.ratio, 4), format(p.low, 4), format(p.high, 4)), " · ",
    say("minimum_effect", percent(p.minimum_effect)), " · ", say("noise", percent(p.noise))),
  el("p", {}, p.reason ? say(p.reason) : missing()), timesDrawing(p),
  simpleTable(say("times"), [say("run"), say("arm"), say("median"), say("p95"), say("steps"),
    say("dropped_count")], p.runs.map((r) => [r.name, say(r.arm), el("td", {class: "n"},
    seconds(r.median)), el("td", {class: "n"}, seconds(r.p95)), el("td", {class: "n"},
    (r.times || []).length), el("td", {class: "n"}, shown(r.dropped))])),
  sourceLine(data.filled_in || `runs/${slugOf(data)}/time-*/steps.jsonl`));
}

// ---- the rest --------------------------------------------------------------------------------

function commandsSection(data) {
  const c = data.commands || {};
  return section("commands", facts(["baseline_cmd", "fused_cmd", "script_path", "data_path",
    "ckpt_path"].map((name) => [say(name), code(c[name])]).concat([[say("environment_vars"),
    !c.environment ? missing() : isMissing(c.environment) ? say("none") :
      c.environment.map((e) => [code(e), " "])]])));
}

function environmentSection(data) {
  const e = data.environment || {}, names = Object.keys(e);
  const known = ["python", "torch", "torch_npu", "cann", "driver", "product", "devices", "npufuse"];
  return section("environment", facts(known.concat(names.filter((n) => !known.includes(n)))
    .map((name) => [name, shown(e[name])])));
}

function countsSection(data) {
  return section("counts", el("p", {class: "note"}, say("counts_note")), simpleTable(say("counts"),
    [say("arm"), say("rank"), say("fused_branch"), say("else_branch"), say("emulated_calls")],
    (data.counts || []).map((c) => [say(c.arm), ...["rank", "fused", "else", "emulated"].map((k) =>
      el("td", {class: "n"}, shown(c[k])))])));
}

function droppedSection(data) {
  return section("dropped", (data.dropped || []).length ? simpleTable(say("dropped"),
    [say("run"), say("steps"), say("why")], data.dropped.map((d) => [d.run, shown(d.steps), d.why])) :
    el("p", {}, say("none")));
}

function filesSection(data) {
  return section("files", simpleTable(say("files"), [say("what"), say("path")],
    (data.files || []).map((f) => [f.what, code(f.path)])));
}

// ---- the whole -----------------------------------------------------------------------------

let later = []; // drawings that need their place in the page

function header(data) {
  const id = (data.candidate || {}).id || (data.basic_info || {}).candidate_name;
  return el("header", {}, el("a", {class: "skip-link", href: "#verdict"}, say("skip_link")),
    el("h1", {}, say("page_title"), say("colon"), code(id)),
    el("button", {type: "button", class: "lang", onclick: () => { language = 1 - language; render(); }},
      say("lang_switch")));
}

// In their order; `sections` of the data, where it is there, names those to show.
function sections(data) {
  return [badge, candidatesSection, aboutSection, stagesSection, lossSection, timesSection,
    unitSection, diffSection, commandsSection, environmentSection, droppedSection, countsSection,
    filesSection, stepTable].map((make) => make(data))
    .filter((made) => !data.sections || data.sections.includes(made.id));
}

function render() {
  const page = clear(document.getElementById("page"));
  later = [];
  charts.length = 0;
  document.documentElement.lang = language ? "zh" : "en";
  document.title = `${say("page_title")} · ${slugOf(DATA)}`;
  append(page, [header(DATA), el("main", {}, sections(DATA)),
  DATA.filled_in ? null :
    el("footer", {}, say("made_by", (DATA.environment || {}).npufuse || ""))]);
  later.forEach((draw) => draw());
}

function start() {
  try {
    DATA = JSON.parse(document.getElementById("data").textContent) || {};
  } catch (error) {
    append(document.getElementById("page"), [el("p", {class: "bad"}, say("unreadable", error.message))]);
    return;
  }
  language = DATA.lang === "zh" ? 1 : 0;
  render();
  const again = () => later.forEach((draw) => draw());
  window.addEventListener("resize", again);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
}
