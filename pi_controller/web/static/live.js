// Keeps the page current: events in, elements patched by the keys they carry. The page is complete without it.
// @ts-check

import { News } from "./announce.js";
import { holdResult, noteSticks } from "./motion.js";
import { remember } from "./seals.js";
import { sounds } from "./tones.js";

/**
 * @typedef {{ texts: Record<string, string>, marks: Record<string, string>, counts: Record<string, [number, number]>,
 *   layout: string, table: string }} Board
 */

const STREAM = document.body.dataset.events ?? "/events";
const SILENT_MS = 40_000; // two heartbeats and some: after that the line is dead, whatever the browser thinks
const AGAIN_MS = 1_000;
const FAR_S = 86_400; // an end that is further off is on another clock: a simulated game's
const SPREAD_MS = 2_000; // not all pages come back at once
const PICTURE_MS = 350; // each picture stands at least so long, so that nothing on the page flashes three times a second
const ASLEEP_MS = 5_000; // a page that was out of sight for longer asks anew, and hears what time it is

const badge = /** @type {HTMLElement} */ (document.getElementById("badge"));
const hold = document.getElementById("hold");
const asOf = /** @type {HTMLElement} */ (document.getElementById("as-of"));

/** @type {EventSource | null} */
let source = null;
let heard = performance.now();
/** @type {ReturnType<typeof setTimeout> | undefined} */
let again;
/** The id of the newest picture, by which a page that comes back asks only for what it has not seen. */
let seen = "";
/** By how many seconds the table's clock is ahead of this page's own. */
let ahead = -Infinity;
/** @type {Board | null} */
let next = null;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let turning;
let held = false;
const news = new News();
const sound = sounds(document.getElementById("sound"));

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
  const letFly = noteSticks();
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
  letFly();
  holdResult(board.texts, board.marks);
  news.tell(board);
  sound(board.marks);
  tell();
}

/** Show the newest board, unless the one before has stood for too short a time, or is held. */
function turn() {
  if (held || turning !== undefined || next === null) return;
  show(next);
  next = null;
  turning = setTimeout(() => {
    turning = undefined;
    turn();
  }, PICTURE_MS);
}

/** Note that the line lives, and since when what is shown has been true. */
function alive() {
  heard = performance.now();
  if (held) return;
  badge.dataset.value = "live";
  say(asOf, new Date().toTimeString().slice(0, 8));
}

/** Say that what is shown may be old; "as of" stays at the last sign of life. */
function stale() {
  if (!held) badge.dataset.value = "stale";
}

/** Take in the table's time. The message that came soonest is the nearest to it. */
function set(/** @type {string} */ time) {
  ahead = Math.max(ahead, Number(time) - performance.now() / 1000);
  tell();
}

/** Open the stream, leaving an older one. */
function open() {
  clearTimeout(again);
  source?.close();
  heard = performance.now();
  const stream = new EventSource(STREAM + (seen && `${STREAM.includes("?") ? "&" : "?"}last=${encodeURIComponent(seen)}`));
  source = stream;
  stream.addEventListener("view", (event) => {
    seen = event.lastEventId;
    /** @type {Board} */
    const board = JSON.parse(event.data);
    if (board.marks.seal === "sealed") remember(board.texts.seal);
    next = board;
    turn();
    alive();
  });
  stream.addEventListener("beat", (event) => {
    set(event.data);
    alive();
  });
  stream.addEventListener("error", () => {
    // Left to itself the browser gives up for good after a refusal (a table that restarts), and it
    // waits as long as it likes. So the page comes back itself, and says as the browser would which id it saw last.
    stream.close();
    if (stream !== source) return;
    stale();
    clearTimeout(again);
    again = setTimeout(open, AGAIN_MS + Math.random() * SPREAD_MS);
  });
}

/** Tell the times that are left, where the ends (seconds on the table's clock) are near. A stopped clock stands. */
function tell() {
  if (held || ahead === -Infinity) return;
  for (const told of document.querySelectorAll("[data-clock]")) {
    const end = told.parentElement?.dataset.value;
    const stopped = told.getAttribute("data-value");
    const left = end ? Number(end) - (stopped ? Number(stopped) : performance.now() / 1000 + ahead) : Infinity;
    const seconds = Math.max(0, Math.ceil(left));
    const near = Math.abs(left) < FAR_S;
    say(told, near ? `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}` : "");
  }
}
setInterval(tell, 250);

hold?.toggleAttribute("hidden", false);
hold?.addEventListener("click", () => {
  held = !held;
  hold.setAttribute("aria-pressed", String(held));
  badge.dataset.value = held ? "held" : "stale";
  if (!held) open();
  turn();
});

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
let left = 0;
document.addEventListener("visibilitychange", () => {
  if (document.hidden) left = Date.now();
  else if (Date.now() - left > ASLEEP_MS) open();
});
addEventListener("pagehide", () => source?.close());
open();
