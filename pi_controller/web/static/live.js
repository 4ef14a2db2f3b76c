// Keeps the page current: events in, elements patched by the keys they carry. The page is complete without it.
// @ts-check

/**
 * @typedef {{ texts: Record<string, string>, marks: Record<string, string>, counts: Record<string, [number, number]>,
 *   layout: string, table: string }} Board
 */

const STREAM = "/events";
const SILENT_MS = 40_000; // two heartbeats and some: after that the line is dead, whatever the browser thinks
const AGAIN_MS = 1_000;
const FAR_S = 86_400; // an end that is further off is on another clock: a simulated game's
const SPREAD_MS = 2_000; // not all pages come back at once

const badge = /** @type {HTMLElement} */ (document.getElementById("badge"));
const clock = /** @type {HTMLElement} */ (document.getElementById("clock"));
const asOf = /** @type {HTMLElement} */ (document.getElementById("as-of"));

/** @type {EventSource | null} */
let source = null;
let heard = performance.now();
/** @type {ReturnType<typeof setTimeout> | undefined} */
let again;

/** Put `text` into `element` unless it says so already: nothing is announced twice. */
function say(/** @type {Element} */ element, /** @type {string} */ text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Bring a row of strokes to `of` children, the first `lit` of them on. */
function count(/** @type {Element} */ row, /** @type {number} */ lit, /** @type {number} */ of) {
  while (row.children.length > of) row.lastElementChild?.remove();
  while (row.children.length < of) row.append(document.createElement("i"));
  for (const [i, stroke] of [...row.children].entries()) stroke.classList.toggle("on", i < lit);
}

/** The table's HTML as the server last sent it: what is in the page has been parsed, and may be written otherwise. */
let shown = "";

/** Show a board: texts, marks and counts go to the elements that carry their keys. Another game has another page. */
function show(/** @type {Board} */ board) {
  if (board.layout !== document.body.dataset.layout) return location.reload();
  const table = document.querySelector("[data-html=table]");
  if (table && board.table !== shown) table.innerHTML = shown = board.table; // all texts in it are escaped by the server
  for (const element of document.querySelectorAll("[data-live]")) {
    const text = board.texts[element.getAttribute("data-live") ?? ""];
    if (text !== undefined) say(element, text);
  }
  for (const element of document.querySelectorAll("[data-state]")) {
    const mark = board.marks[element.getAttribute("data-state") ?? ""];
    if (mark !== undefined && element.getAttribute("data-value") !== mark) element.setAttribute("data-value", mark);
  }
  for (const element of document.querySelectorAll("[data-count]")) {
    const sticks = board.counts[element.getAttribute("data-count") ?? ""];
    if (sticks) count(element, ...sticks);
  }
}

/** Note that the line lives, and since when what is shown has been true. */
function alive() {
  heard = performance.now();
  badge.dataset.value = "live";
  say(asOf, new Date().toTimeString().slice(0, 8));
}

/** Say that what is shown may be old; "as of" stays at the last sign of life. */
function stale() {
  badge.dataset.value = "stale";
}

/** Open the stream, leaving an older one. */
function open() {
  clearTimeout(again);
  source?.close();
  heard = performance.now();
  const stream = new EventSource(STREAM);
  source = stream;
  stream.addEventListener("view", (event) => {
    show(JSON.parse(event.data));
    alive();
  });
  stream.addEventListener("beat", alive);
  stream.addEventListener("error", () => {
    // Left to itself the browser gives up after a refusal, and asks only for what follows the last id it saw, which
    // means nothing to a table that has begun a new journal. A fresh stream always starts with the whole picture.
    stream.close();
    if (stream !== source) return;
    stale();
    clearTimeout(again);
    again = setTimeout(open, AGAIN_MS + Math.random() * SPREAD_MS);
  });
}

/** Tell the time that is left, where the game has an end (seconds since 1970) that is near. */
function tell() {
  const left = Number(clock.dataset.value || Infinity) - Date.now() / 1000;
  const on = left > -FAR_S && left < FAR_S;
  clock.classList.toggle("on", on);
  if (!on || !clock.lastElementChild) return;
  const seconds = Math.max(0, Math.ceil(left));
  say(clock.lastElementChild, `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`);
}
setInterval(tell, 500);

setInterval(() => {
  if (performance.now() - heard > SILENT_MS) {
    stale();
    open();
  }
}, 5_000);
addEventListener("offline", stale);
addEventListener("online", open);
addEventListener("pageshow", (event) => {
  if (event.persisted) open();
});
addEventListener("pagehide", () => source?.close());
open();
