// tables.js - long tables, a page at a time: the steps, and the unit cases.
const PAGE_ROWS = 25;

function button(label, disabled, action) {
  return el("button", {type: "button", disabled, onclick: action}, label);
}

// `rows` are data; `cells(row)` makes the cells of one; `matches(row, text)` says
// whether the search finds it.
function pagedTable(name, heads, rows, cells, matches, hint, extra) {
  const box = el("div", {class: "paged"}), body = el("tbody", {}), foot = el("p", {class: "pages"});
  let found = rows, at = 0, text = "", keep = () => true;
  const show = () => {
    clear(body);
    found.slice(at, at + PAGE_ROWS).forEach((row) => append(body, [el("tr", {}, cells(row).map(
      (cell) => (cell && cell.tagName === "TD" ? cell : el("td", {}, cell))))]));
    clear(foot);
    const last = Math.max(0, Math.floor((found.length - 1) / PAGE_ROWS) * PAGE_ROWS);
    const go = (to) => () => { at = to; show(); };
    append(foot, [found.length ? say("rows_shown", at + 1, Math.min(at + PAGE_ROWS, found.length),
      found.length) : say("no_rows")]);
    if (found.length <= PAGE_ROWS) return;
    append(foot, [" ", button(say("first"), at === 0, go(0)),
      button(say("previous"), at === 0, go(Math.max(0, at - PAGE_ROWS))),
      button(say("next"), at >= last, go(at + PAGE_ROWS)),
      button(say("last"), at >= last, go(last)),
      el("span", {class: "print-only"}, " ", say("print_part"))]);
  };
  const filter = () => {
    found = rows.filter((row) => keep(row) && (!text || matches(row, text)));
    at = 0;
    show();
  };
  const search = el("input", {type: "search", placeholder: hint, "aria-label": say("search"),
    oninput: (event) => { text = event.target.value.trim().toLowerCase(); filter(); }});
  const only = extra ? el("label", {}, el("input", {type: "checkbox", onchange: (event) => {
    keep = event.target.checked ? extra.keep : () => true;
    filter();
  }}), " ", extra.label) : null;
  append(box, [el("p", {class: "controls"}, search, " ", only),
    scrolling(name, el("table", {}, el("thead", {}, el("tr", {}, heads.map((head) =>
      el("th", {scope: "col"}, head)))), body)), foot]);
  show();
  return box;
}

// ---- steps ---------------------------------------------------------------------------

// "12", "10-20", "fail", or a phase.
function stepMatches(row, text) {
  const span = text.match(/^(\d+)(?:\s*-\s*(\d+))?$/);
  if (span) {
    const low = Number(span[1]), high = span[2] === undefined ? low : Number(span[2]);
    return row.step >= low && row.step <= high;
  }
  if (text === "fail" || text === say("Fail").toLowerCase()) return !row.compared.ok;
  return String(row.phase || "").toLowerCase().includes(text);
}

function stepTable(data) {
  const limit = limitOf(data), timed = hasTimes(data);
  const rows = (data.metrics || []).map((row) => Object.assign({}, row, {
    compared: compareLosses(row.base_loss, row.fused_loss, limit)}));
  const heads = ["step", "phase", "base_loss", "fused_loss", "abs_diff", "rel_diff"];
  if (timed) heads.push("base_time", "fused_time", "time_delta", "speedup");
  const cells = (row) => {
    const out = [el("td", {class: "n"}, row.step), shown(row.phase),
      el("td", {class: "n"}, figure(row.base_loss, 8)), el("td", {class: "n"},
        figure(row.fused_loss, 8)), el("td", {class: "n"}, figure(row.compared.abs)),
      el("td", {class: "n" + (row.compared.ok ? "" : " bad")}, figure(row.compared.rel))];
    if (!timed) return out;
    const a = finite(row.base_time), b = finite(row.fused_time);
    return out.concat([seconds(row.base_time), seconds(row.fused_time),
      a === null || b === null ? missing() : seconds(b - a),
      a === null || !b ? missing() : format(a / b, 4)].map((c) => el("td", {class: "n"}, c)));
  };
  if (!rows.length) return section("step_table", el("p", {}, missing()));
  return section("step_table", pagedTable(say("step_table"), heads.map((h) => say(h)), rows, cells,
    stepMatches, say("step_search")), timed ? null : el("p", {class: "note"}, say("times_hidden")),
    sourceLine(say("table_source", metricsFile(data))));
}

// ---- unit cases ------------------------------------------------------------------------

function unitSection(data) {
  const unit = data.unit;
  if (!unit) return section("units", el("p", {}, missing()));
  const cases = (unit.cases || []).slice();
  const rank = (c) => (c.status === "pass" ? 1 : 0);
  const excess = (c) => (finite(c.fused_error) === null || !finite(c.limit) ? Infinity :
    c.fused_error / c.limit);
  cases.sort((a, b) => rank(a) - rank(b) || excess(b) - excess(a)); // the worst first
  // Both verdicts stand together, before the numbers that a narrow screen cuts off.
  const cells = (c) => [c.name, c.mode, c.tensor, verdict(c.original_gate ? "pass" : "fail"),
    el("td", {}, verdict(c.status), c.reason ? [" ", c.reason] : null),
    `${c.dtype_original || "?"} → ${c.dtype_fused || "?"}`,
    el("td", {class: "n"}, figure(c.cosine, 7)), el("td", {class: "n"}, figure(c.max_abs_err, 3)),
    el("td", {class: "n"}, figure(c.norm_ratio, 6)),
    el("td", {class: "n"}, figure(c.original_error, 3), " / ", figure(c.fused_error, 3)),
    el("td", {class: "n"}, figure(c.limit, 3)), say(c.source || ""),
    el("td", {class: "wide"}, c.inputs)];
  const heads = [say("case_name"), say("mode"), say("tensor"),
    el("span", {title: say("original_gate_hint")}, say("original_gate")), say("stricter"),
    say("dtypes"), say("cosine"), say("max_abs"), say("norm_ratio"), say("errors"),
    say("limit", ""), say("source_word"), say("inputs")];
  return section("units", el("p", {}, verdict(unit.status), " ",
    unit.label === "emulated" || unit.emulated ? emulatedTag() : say(unit.label || ""), " ",
    unit.reason || "", finite(unit.fp64_reference_error) === null ? null :
      [" · ", say("fp64_error", format(unit.fp64_reference_error, 3))]),
    el("p", {class: "note"}, say("original_gate"), say("colon"), say("original_gate_hint")),
    pagedTable(say("units"), heads, cases, cells, (c, text) =>
      JSON.stringify(c).toLowerCase().includes(text), say("cases_filter"),
      {label: say("only_failing"), keep: (c) => c.status !== "pass"}),
    sourceLine(`runs/${slugOf(data)}/unit/result.json`));
}
