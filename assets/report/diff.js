// diff.js - two texts side by side. A line that only moved to the right, as the
// original does into its `else`, is told from one that is new.

function lines(text) {
  const list = String(text || "").split(/\r\n|\n|\r/);
  if (list.length && list[list.length - 1] === "") list.pop();
  return list;
}

// Longest common subsequence of the lines without their indentation; from the
// end, because the original is what the replacement ends with.
function pairs(before, after) {
  const a = before.map((s) => s.trim()), b = after.map((s) => s.trim());
  const width = b.length + 1;
  const best = new Uint32Array((a.length + 1) * width);
  for (let i = 1; i <= a.length; i++) {
    for (let k = 1; k <= b.length; k++) {
      best[i * width + k] = a[i - 1] === b[k - 1] ? best[(i - 1) * width + k - 1] + 1 :
        Math.max(best[(i - 1) * width + k], best[i * width + k - 1]);
    }
  }
  const found = [];
  let i = a.length, k = b.length;
  while (i > 0 || k > 0) {
    if (i > 0 && k > 0 && a[i - 1] === b[k - 1]) {
      found.push([--i, --k]);
    } else if (k > 0 && (i === 0 || best[i * width + k - 1] >= best[(i - 1) * width + k])) {
      found.push([null, --k]);
    } else {
      found.push([--i, null]);
    }
  }
  return found.reverse();
}

function side(sign, number, text, kind) {
  return [el("td", {class: "number"}, number === null ? "" : number),
    el("td", {class: "sign"}, sign), el("td", {class: "code " + kind}, text === null ? "" : text)];
}

function diffRow(hunk, before, after, [i, k]) {
  const old = i === null ? null : before[i], fresh = k === null ? null : after[k];
  const oldLine = i === null ? null : Number(hunk.old_line) + i;
  const newLine = k === null ? null : Number(hunk.new_line) + k;
  if (old === null) return el("tr", {}, side("", null, null, "gap"), side("+", newLine, fresh, "added"));
  if (fresh === null) return el("tr", {}, side("−", oldLine, old, "removed"), side("", null, null, "gap"));
  const moved = old !== fresh;
  return el("tr", {}, side("", oldLine, old, "same"),
    side(moved ? "→" : "", newLine, fresh, moved ? "moved" : "same"));
}

function diffTable(file, hunk) {
  const before = lines(hunk.old_code), after = lines(hunk.new_code);
  if (before.length * after.length > 4e6) {
    return el("pre", {}, hunk.new_code);
  }
  return scrolling(file, el("table", {class: "diff"},
    el("thead", {}, el("tr", {}, el("th", {colspan: 3, scope: "col"}, say("old_code")),
      el("th", {colspan: 3, scope: "col"}, say("new_code")))),
    el("tbody", {}, pairs(before, after).map((pair) => diffRow(hunk, before, after, pair)))));
}

function diffSection(data) {
  const files = data.diffs || [];
  return section("diff", el("p", {class: "note"}, say("diff_note")), files.length ?
    files.map((file) => [el("h3", {}, code(file.file_path)), (file.hunks || []).map((hunk) =>
      [el("p", {class: "source"}, `${file.file_path}:${hunk.old_line}`),
        diffTable(file.file_path, hunk)])]) : el("p", {}, missing()));
}
