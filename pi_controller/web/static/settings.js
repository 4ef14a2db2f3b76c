// The settings page: marks what was changed, shows the difference, saves it, and starts the table again.
// @ts-check
import { goBack } from "./go_back.js";
import { ask, sentence } from "./request.js";

const by = (/** @type {string} */ id) => /** @type {HTMLElement} */ (document.getElementById(id));
const RELOAD_MS = 1_500;
const rows = /** @type {HTMLElement[]} */ ([...document.querySelectorAll(".setting")]);
const { home, version } = document.body.dataset;
const words = JSON.parse(document.body.dataset.words ?? "{}");
let leaves = false; // the page loads itself again

/** @typedef {HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement} Control */
const control = (/** @type {HTMLElement} */ row) => /** @type {Control} */ (row.querySelector("input, select, textarea"));
const was = (/** @type {HTMLElement} */ row) => JSON.parse(row.dataset.value ?? "null");
const same = (/** @type {any} */ a, /** @type {any} */ b) => JSON.stringify(a) === JSON.stringify(b);

/** The value of a row as the file would have it; a text that is no number stays a text, which the table refuses. */
function value(/** @type {HTMLElement} */ row) {
  const input = control(row);
  const text = input.value.trim();
  const number = Number(text.replace(",", "."));
  const read = (/** @type {string} */ line) => (typeof was(row)[0] === "number" || /^\d+$/.test(line) ? Number(line) : line);
  switch (row.dataset.kind) {
    case "switch": return /** @type {HTMLInputElement} */ (input).checked;
    case "choice": return JSON.parse(input.value);
    case "level": return number;
    // half a time is no time, which the table refuses
    case "time": return /** @type {HTMLInputElement} */ (input).validity.badInput ? "?" : text;
    case "number": return text === "" || Number.isNaN(number) ? text : number;
    case "list": return text.split("\n").map((line) => line.trim()).filter(Boolean).map(read);
    default: return text;
  }
}

/** Put `to` into the control of a row. */
function fill(/** @type {HTMLElement} */ row, /** @type {any} */ to) {
  const input = control(row);
  if (row.dataset.kind === "switch") /** @type {HTMLInputElement} */ (input).checked = to;
  else input.value = row.dataset.kind === "choice" ? JSON.stringify(to) : row.dataset.kind === "list" ? to.join("\n") : String(to);
}

/** A value of a row for people. */
function shown(/** @type {HTMLElement} */ row, /** @type {any} */ one) {
  if (row.dataset.kind === "level") return percent(one);
  if (one === true || one === false) return one ? words.on : words.off;
  return (Array.isArray(one) ? one.join(", ") : String(one)) || words.empty;
}

const percent = (/** @type {number} */ one) => `${Math.round(100 * one)} %`;
const changed = () => rows.filter((row) => !control(row).disabled && !same(value(row), was(row)));

function problem(/** @type {HTMLElement} */ row, /** @type {string} */ text) {
  const place = /** @type {HTMLElement} */ (row.querySelector(".problem"));
  place.textContent = text && `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
  if (text) control(row).setAttribute("aria-invalid", "true");
  else control(row).removeAttribute("aria-invalid");
}

function mark() {
  const now = changed();
  for (const row of rows) {
    row.toggleAttribute("data-changed", now.includes(row));
    const output = row.querySelector("output");
    if (output) output.textContent = percent(value(row));
    const back = /** @type {HTMLElement} */ (row.querySelector(".back"));
    back.hidden = control(row).disabled || same(value(row), JSON.parse(row.dataset.default ?? "null"));
  }
  by("save").hidden = !now.length;
  by("count").textContent = now.length === 1 ? words.one : words.many.replace("{n}", String(now.length));
}

function reload(query = "") {
  leaves = true;
  location.replace(location.pathname + query);
}

function name(/** @type {HTMLElement} */ row) {
  const section = /** @type {HTMLElement} */ (row.closest("details")?.querySelector("summary span")).textContent;
  return `${section}: ${/** @type {HTMLElement} */ (row.querySelector("label")).textContent}`;
}

function look() {
  by("rows").replaceChildren(...changed().map((row) => {
    const line = document.createElement("tr");
    for (const text of [name(row), shown(row, was(row)), shown(row, value(row))]) {
      const cell = document.createElement("td");
      cell.textContent = text;
      line.append(cell);
    }
    return line;
  }));
  by("trouble").textContent = "";
  /** @type {HTMLDialogElement} */ (by("changes")).showModal();
}

async function save() {
  const now = changed();
  const button = /** @type {HTMLButtonElement} */ (by("send"));
  button.disabled = true;
  const said = await ask(`${location.pathname}/save`, { version, changes: Object.fromEntries(now.map((row) => [row.dataset.key, value(row)])) });
  button.disabled = false;
  rows.forEach((row) => problem(row, ""));
  if (said.ok) return reload("?saved");
  const issues = said.error.issues ?? {};
  const faulty = rows.filter((row) => issues[row.dataset.key ?? ""]);
  const elsewhere = Object.keys(issues).filter((key) => !faulty.some((row) => row.dataset.key === key));
  by("trouble").textContent = [sentence(said.error), ...elsewhere.map((key) => `${key} ${issues[key]}.`)].join(" ");
  for (const row of faulty) {
    problem(row, issues[row.dataset.key ?? ""]);
    row.closest("details")?.setAttribute("open", "");
  }
  if (faulty.length) {
    /** @type {HTMLDialogElement} */ (by("changes")).close();
    by("said").textContent = by("trouble").textContent;
    control(faulty[0]).focus();
  }
}

/** Ask the table to start again; `playing` confirms that a game is in progress. */
async function restart(/** @type {boolean} */ playing) {
  const said = await ask(`${location.pathname}/restart`, playing ? { playing } : {});
  if (said.ok) {
    by("sure-told").textContent = words.restarting;
    by("sure-do").hidden = true;
    await waitForTable();
  } else if (said.error.code === "playing") {
    by("sure-told").textContent = words.playing;
    by("sure-do").textContent = words.restart_now;
    by("sure-do").dataset.playing = "yes";
  } else {
    by("sure-trouble").textContent = sentence(said.error);
  }
}

/** Load the page again when the table answers. */
async function waitForTable() {
  for (;;) {
    await new Promise((done) => setTimeout(done, RELOAD_MS));
    const health = await ask("/healthz");
    if (health.ok) break;
  }
  reload();
}

function find() {
  const words = /** @type {HTMLInputElement} */ (by("find")).value.toLowerCase().split(/\s+/).filter(Boolean);
  let any = false;
  for (const group of document.querySelectorAll(".group")) {
    let here = false;
    for (const row of /** @type {NodeListOf<HTMLElement>} */ (group.querySelectorAll(".setting"))) {
      const text = `${name(row)} ${row.dataset.key} ${row.textContent}`.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
      here ||= !row.hidden;
    }
    /** @type {HTMLElement} */ (group).hidden = !here;
    group.toggleAttribute("open", words.length > 0 && here);
    any ||= here;
  }
  by("none").hidden = any;
}

if (rows.length) {
  document.addEventListener("input", (event) => {
    if (event.target === by("find")) return find();
    const row = /** @type {HTMLElement} */ (event.target).closest(".setting");
    if (row) problem(/** @type {HTMLElement} */ (row), "");
    mark();
  });
  for (const row of rows) {
    /** @type {HTMLElement} */ (row.querySelector(".back")).addEventListener("click", () => {
      fill(row, JSON.parse(row.dataset.default ?? "null"));
      problem(row, "");
      mark();
      control(row).focus();
    });
  }
  by("drop").addEventListener("click", () => {
    rows.forEach((row) => (fill(row, was(row)), problem(row, "")));
    mark();
  });
  by("look").addEventListener("click", look);
  by("send").addEventListener("click", save);
  by("restart")?.addEventListener("click", () => /** @type {HTMLDialogElement} */ (by("sure")).showModal());
  by("sure-do")?.addEventListener("click", () => restart(by("sure-do").dataset.playing === "yes"));
  addEventListener("beforeunload", (event) => !leaves && changed().length && event.preventDefault());
  mark();
}
goBack(Number(document.body.dataset.back), () => {
  leaves = true;
  return ask(`${home}/sign-out`, {});
});
