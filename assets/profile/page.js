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

function nameCell(run) {
  const marks = [say(run.direction), run.part_of && say("part_of", run.part_of),
    !run.contiguous && say("not_contiguous")].filter(Boolean).join(say("comma"));
  return el("td", {class: "wide"}, code(run.pattern), el("div", {class: "note"}, marks));
}

function whereCell(run) {
  return el("td", {class: "wide"}, run.site ? el("div", {}, code(run.site)) : null,
    run.module ? el("div", {class: "note"}, run.module) : null,
    !run.site && !run.module ? missing() : null, el("div", {class: "note"}, code(run.sequence)));
}

function capCell(run) {
  const text = times(run.cap);
  return el("td", {class: "n"}, text === null ? missing() : text,
    text && run.is_relative ? el("div", {class: "note"}, say("relative")) : null);
}

function bound(word) {
  return say(word === "communication" ? "communication_bound" : word);
}

function runRow(run, i) {
  const thumb = run.bound === "memory" && run.api ? say("thumb_value") : "";
  return [el("td", {class: "n"}, String(i + 1)), nameCell(run),
    el("td", {class: "wide"}, run.api ? code(run.api) : say("custom")), number(run.count, 9),
    number(run.device_us / 1e3), number(run.gap_us / 1e3),
    el("td", {class: "n"}, percent(run.share)), capCell(run),
    el("td", {class: "n"}, times(run.step_speedup) || missing()), el("td", {}, thumb || "-"),
    el("td", {class: "wide"}, bound(run.bound), el("div", {class: "note"}, run.evidence)), whereCell(run),
    el("td", {class: "n"}, `${run.first_row}-${run.last_row}`)];
}

function runsSection(data) {
  const heads = ["number", "pattern", "api", "calls", "device_ms", "gap_ms", "share", "cap",
    "step_cap", "thumb", "bound", "where", "rows"].map((h) => say(h));
  return el("section", {id: "runs"}, el("h2", {}, say("runs")), data.runs.length ?
    simpleTable(say("runs"), heads, data.runs.map(runRow)) : el("p", {}, say("no_runs")));
}

function kernelsSection(data) {
  const heads = ["type", "shapes", "calls", "device_ms", "bound", "evidence", "rows"];
  return el("section", {id: "kernels"}, el("h2", {}, say("kernels")),
    el("p", {class: "note"}, say("kernels_shown", data.kernels.length, data.kernel_kinds)),
    simpleTable(say("kernels"), heads.map((h) => say(h)), data.kernels.map((k) => [
      code(k.type), el("td", {class: "wide"}, code(k.shapes)), number(k.count, 9),
      number(k.device_us / 1e3), bound(k.bound), k.evidence, number(k.first_row, 9)])));
}

function notesSection(data) {
  if (!data.notes.length) return null;
  return el("section", {id: "notes"}, el("h2", {}, say("notes")),
    el("ul", {}, data.notes.map((note) => el("li", {}, note))));
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
    kernelsSection(DATA), notesSection(DATA)),
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
