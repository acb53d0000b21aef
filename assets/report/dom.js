// dom.js - elements. All text goes in as text nodes, so that nothing of the
// data is ever read as markup.

// Characters that a viewer would not show, or that reorder a line.
const HIDDEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

function visible(text) {
  return String(text).replace(HIDDEN, (c) =>
    "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
}

function append(parent, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    parent.appendChild(typeof child === "object" ? child :
      document.createTextNode(visible(child)));
  }
  return parent;
}

function setAttributes(element, attributes) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  return element;
}

// el("td", {class: "n"}, "text", node, [more])
function el(tag, attributes, ...children) {
  return append(setAttributes(document.createElement(tag), attributes), children);
}

function svg(tag, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  return append(setAttributes(element, attributes), children);
}

function clear(element) {
  while (element.firstChild) element.removeChild(element.firstChild);
  return element;
}

function isMissing(value) {
  return value === null || value === undefined || value === "" ||
    (Array.isArray(value) && value.length === 0);
}

function missing() {
  return el("span", {class: "missing"}, say("missing"));
}

// A value of any kind as text, or the words for missing knowledge.
function shown(value) {
  if (isMissing(value)) return missing();
  if (Array.isArray(value)) return value.map(plain).join(say("comma"));
  return plain(value);
}

function plain(value) {
  return typeof value === "object" && value !== null ? JSON.stringify(value) : String(value);
}

function code(value) {
  return isMissing(value) ? missing() : el("code", {}, plain(value));
}

function emulatedTag() {
  return el("span", {class: "tag emulated", title: say("emulated_hint")}, say("emulated"));
}

// The shapes that go with the words, so that no verdict is told by colour.
const SHAPES = {
  pass: ["M8 1a7 7 0 1 0 0 14A7 7 0 0 0 8 1z", "M4.5 8.2l2.4 2.4 4.6-5"],
  fail: ["M5 1h6l4 4v6l-4 4H5l-4-4V5z", "M5.3 5.3l5.4 5.4M10.7 5.3l-5.4 5.4"],
  blocked: ["M8 1.2L15.3 14.6H.7z", "M8 5.6v4.2M8 11.6v1.4"],
  skip: ["M8 1l7 7-7 7-7-7z", "M5 8h6"],
};
const SHAPE_OF = {
  pass: "pass", Pass: "pass", replace: "pass", faster: "pass", recommend: "pass",
  fail: "fail", Fail: "fail", do_not: "fail", slower: "fail", no_gain: "fail",
  precision_failed: "fail", reject: "fail",
  blocked: "blocked", Blocked: "blocked", undecided: "blocked", stale: "blocked",
  caution: "blocked",
};

function shape(word) {
  const kind = SHAPE_OF[word] || "skip";
  const [body, sign] = SHAPES[kind];
  return svg("svg", {class: "shape", viewBox: "0 0 16 16", "aria-hidden": "true"},
    svg("path", {class: "body", d: body}), svg("path", {class: "sign", d: sign}));
}

// A word of the verdicts with its shape; missing if there is none.
function verdict(word) {
  if (isMissing(word)) return missing();
  return el("span", {class: "verdict " + (SHAPE_OF[word] || "skip")}, shape(word), say(word));
}

// A list of [label, value node] as a grid.
function facts(pairs) {
  return el("dl", {class: "facts"}, pairs.filter(Boolean).map(([label, value]) =>
    [el("dt", {}, label), el("dd", {}, value)]));
}

// A table wider than the screen scrolls by mouse and by keyboard.
function scrolling(label, table) {
  return el("div", {class: "scroll", role: "region", tabindex: "0", "aria-label": label}, table);
}

function simpleTable(label, heads, rows) {
  if (!rows.length) return el("p", {}, missing());
  return scrolling(label, el("table", {},
    el("thead", {}, el("tr", {}, heads.map((head) =>
      head.tagName === "TH" ? head : el("th", {scope: "col"}, head)))),
    el("tbody", {}, rows.map((cells) => el("tr", {}, cells.map((cell) =>
      cell && cell.tagName === "TD" ? cell : el("td", {}, cell)))))));
}

function sourceLine(...parts) {
  return el("p", {class: "source"}, say("source"), say("colon"), parts);
}
