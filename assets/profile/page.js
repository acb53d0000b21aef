// page.js - the page of a profile: what it is, the roofline, the runs, the kernels.
let DATA = {};

function ms(us) {
  return format(us / 1e3, 5);
}

function number(value, digits) {
  const text = format(value, digits);
  return el("td", {class: "n"}, text === null ? missing() : text);
}

function times(value) {
  return finite(value) === null ? null : format(value, 4) + "x";
}

function summary(data) {
  const chip = data.chip, known = finite(chip.gb_per_s) !== null;
  return el("section", {id: "summary"}, el("h2", {}, say("summary")), facts([
    [say("source"), code(data.source)],
    [say("kernels_time"), ms(data.kernel_us) + " ms"],
    [say("communication"), ms(data.communication_us) + " ms"],
    [say("steps_time"), ms(data.span_us) + " ms"],
    [say("attributed"), say("attributed_value", ms(data.attributed_us) + " ms",
      percent(data.kernel_us ? data.attributed_us / data.kernel_us : null))],
    [say("chip"), known ? [chip.name ? chip.name + say("colon") : "", say("chip_value",
      format(chip.gb_per_s, 5), finite(chip.tflop_per_s) === null ? say("missing") :
        format(chip.tflop_per_s, 4), format(chip.launch_us, 4) || say("missing"))] :
      say("chip_unknown")],
  ]));
}

function rooflineSection(data) {
  const box = el("div", {class: "chart", role: "img", "aria-label": say("roofline")});
  later.push(() => roofline(box, data));
  return el("section", {id: "roofline"}, el("h2", {}, say("roofline")), box,
    el("p", {class: "note"}, say("roofline_note")));
}

// What to write in its place: an operator, a kernel of one's own, or other code.
function instead(run) {
  if (run.api) return code(run.api);
  return run.kind === "affinity" ? null : say("custom");
}

function nameCell(run) {
  const marks = [say(run.direction), run.part_of && say("part_of", run.part_of),
    !run.contiguous && say("not_contiguous")].filter(Boolean).join(say("comma"));
  return el("td", {class: "wide"}, el("strong", {}, code(run.pattern)),
    el("div", {class: "note"}, marks));
}

function capCell(run) {
  const text = times(run.cap), thumb = run.kind === "fusion" && run.bound === "memory";
  const notes = [run.is_relative && say("relative"), thumb && say("thumb_value")].filter(Boolean);
  return el("td", {class: "n"}, text === null ? missing() : text,
    text ? notes.map((note) => el("div", {class: "note"}, note)) : null);
}

function bound(word) {
  return say(word === "communication" ? "communication_bound" : word);
}

function figures(run, i) {
  return el("tr", {class: "pair"}, el("td", {class: "n no"}, String(i + 1)), nameCell(run),
    number(run.count, 9), number(run.device_us / 1e3), number(run.gap_us / 1e3),
    el("td", {class: "n"}, percent(run.share)), capCell(run),
    el("td", {class: "n"}, times(run.step_speedup) || missing()), el("td", {}, bound(run.bound)),
    el("td", {class: "n"}, `${run.first_row}-${run.last_row}`));
}

// What the figures are of, over the width of the table.
function particulars(run, heads) {
  const near = (run.near || []).map((name, i) => [i ? say("comma") : "", code(name)]);
  return el("tr", {}, el("td", {class: "no"}), el("td", {class: "more", colspan: heads.length - 1},
    el("div", {class: "instead"}, instead(run)), el("div", {}, code(run.sequence)),
    run.site || run.module ? el("div", {}, run.site ? [code(run.site), " "] : null, run.module) : null,
    el("div", {}, tell(run.evidence)), run.note ? el("div", {}, tell(run.note)) : null,
    near.length ? el("div", {}, say("near", DATA.near_source), say("colon"), near) : null));
}

// Columns of numbers have their heads on the right too.
const NUMBERS = ["number", "calls", "device_ms", "gap_ms", "share", "cap", "step_cap", "rows",
  "different", "steps", "change_rows"];

function head(name) {
  return el("th", {scope: "col", class: NUMBERS.includes(name) ? "n" : null}, say(name));
}

const RUN_HEADS = ["number", "pattern", "calls", "device_ms", "gap_ms", "share", "cap", "step_cap",
  "bound", "rows"];

function runsSection(data) {
  const table = () => scrolling(say("runs"), el("table", {class: "runs"},
    el("thead", {}, el("tr", {}, RUN_HEADS.map(head))),
    data.runs.map((run, i) => el("tbody", {}, figures(run, i), particulars(run, RUN_HEADS)))));
  return el("section", {id: "runs"}, el("h2", {}, say("runs")),
    data.runs.length ? table() : el("p", {}, say("no_runs")));
}

function changeRow(place) {
  return [code(place.type), place.site ? code(place.site) : code(place.name),
    number(place.shapes, 9), number(place.steps, 9), number(place.device_us / 1e3),
    el("td", {class: "wide"}, place.inputs.map((input) => el("div", {}, code(input)))),
    el("td", {class: "n"}, place.rows.join(say("comma")))];
}

function dynamicSection(data) {
  const dynamic = data.dynamic || {sites: []}, sites = dynamic.sites || [];
  const kinds = dynamic.static_kinds + dynamic.dynamic_kinds > 0 ?
    say("kinds_value", dynamic.static_kinds, dynamic.dynamic_kinds) : say("no_state");
  const heads = ["type", "where", "different", "steps", "device_ms", "shapes", "change_rows"];
  return el("section", {id: "dynamic"}, el("h2", {}, say("dynamic")), facts([
    [say("kinds"), kinds],
    [say("changing"), dynamic.places ?
      say("changing_value", dynamic.changing, dynamic.places, dynamic.steps_alike) :
      say("not_compared")],
    [say("late"), String(dynamic.late_kinds)]]),
  sites.length ? simpleTable(say("dynamic"), heads.map(head), sites.map(changeRow)) : null);
}

function kernelsSection(data) {
  const heads = ["type", "shapes", "calls", "device_ms", "bound", "evidence", "rows"];
  return el("section", {id: "kernels"}, el("h2", {}, say("kernels")),
    el("p", {class: "note"}, say("kernels_shown", data.kernels.length, data.kernel_kinds)),
    simpleTable(say("kernels"), heads.map(head), data.kernels.map((k) => [
      code(k.type), el("td", {class: "wide"}, code(k.shapes)), number(k.count, 9),
      number(k.device_us / 1e3), bound(k.bound), tell(k.evidence), number(k.first_row, 9)])));
}

function notesSection(data) {
  if (!data.notes.length) return null;
  return el("section", {id: "notes"}, el("h2", {}, say("notes")),
    el("ul", {}, data.notes.map((note) => el("li", {}, tell(note)))));
}

let later = []; // drawings that need their place in the page

function header() {
  return el("header", {}, el("a", {class: "skip-link", href: "#summary"}, say("skip_link")),
    el("h1", {}, say("page_title")), el("button", {type: "button", class: "lang",
      onclick: () => { language = 1 - language; render(); }}, say("lang_switch")));
}

function render() {
  const page = clear(document.getElementById("page"));
  later = [];
  document.documentElement.lang = language ? "zh" : "en";
  document.title = say("page_title");
  append(page, [header(), el("main", {}, summary(DATA), rooflineSection(DATA), runsSection(DATA),
    kernelsSection(DATA), dynamicSection(DATA), notesSection(DATA)),
  el("footer", {}, say("made_by", DATA.npufuse || ""))]);
  later.forEach((draw) => draw());
}

function start() {
  try {
    DATA = JSON.parse(document.getElementById("data").textContent);
    if (!DATA || !Array.isArray(DATA.runs)) throw new Error("runs");
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
