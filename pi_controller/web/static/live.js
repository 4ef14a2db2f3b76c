// Updates the live page: receives events and patches elements by their keys. The page is complete without it.
// @ts-check

import { News } from "./announce.js";
import { noteDrawn } from "./drawn.js";
import { holdResult, noteSticks } from "./motion.js";
import { remember } from "./seals.js";
import { sounds } from "./tones.js";

/**
 * @typedef {{ texts: Record<string, string>, marks: Record<string, string>,
 *   layout: string, table: string }} Board
 */

const STREAM = document.body.dataset.events ?? "/events";
const SILENT_MS = 40_000; // a bit more than two heartbeats: then the connection counts as lost
const AGAIN_MS = 1_000;
const FAR_S = 86_400; // a later end is of another clock: a simulated game's
const SPREAD_MS = 2_000; // spreads the pages' reconnections
const PICTURE_MS = 350; // minimum time of each state on the page, so that it never flashes three times a second
const ASLEEP_MS = 5_000; // a page that was hidden for longer reconnects, which also updates its clock

const badge = /** @type {HTMLElement} */ (document.getElementById("badge"));
const hold = document.getElementById("hold");
const asOf = /** @type {HTMLElement} */ (document.getElementById("as-of"));

/** @type {EventSource | null} */
let source = null;
let lastContactMs = performance.now();
/** @type {ReturnType<typeof setTimeout> | undefined} */
let again;
/** The id of the newest event, with which a reconnecting page asks only for newer ones. */
let lastId = "";
/** How many seconds the table's clock is ahead of this page's clock. */
let ahead = -Infinity;
/** @type {Board | null} */
let next = null;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let turning;
let onHold = false;
const news = new News();
const sound = sounds(document.getElementById("sound"));

/** Set the text of `element` if it differs, so that it is not announced twice. */
function say(/** @type {Element} */ element, /** @type {string} */ text) {
  if (element.textContent !== text) element.textContent = text;
}

/** The table's HTML as the server last sent it; the page's own HTML may be serialised differently. */
let tableHtml = "";

/** Show a board: set the table, and texts and marks of the elements with their keys. Reload for another layout. */
function show(/** @type {Board} */ board) {
  if (board.layout !== document.body.dataset.layout) return location.reload();
  const letFly = noteSticks();
  const table = document.querySelector("[data-html=table]");
  if (table && board.table !== tableHtml) table.innerHTML = tableHtml = board.table; // all texts in it are escaped by the server
  for (const element of document.querySelectorAll("[data-live]")) {
    const text = board.texts[element.getAttribute("data-live") ?? ""];
    if (text !== undefined) say(element, text);
  }
  for (const element of document.querySelectorAll("[data-state]")) {
    const mark = board.marks[element.getAttribute("data-state") ?? ""];
    if (mark !== undefined && element.getAttribute("data-value") !== mark) element.setAttribute("data-value", mark);
  }
  letFly();
  holdResult(board.texts, board.marks);
  news.tell(board);
  sound(board.marks);
  showClocks();
  noteDrawn(lastId);
}

/** Show the newest board, unless the last one is too recent or is held. */
function turn() {
  if (onHold || turning !== undefined || next === null) return;
  show(next);
  next = null;
  turning = setTimeout(() => {
    turning = undefined;
    turn();
  }, PICTURE_MS);
}

/** Mark the page as current, and note the time. */
function markLive() {
  lastContactMs = performance.now();
  if (onHold) return;
  badge.dataset.value = "live";
  say(asOf, new Date().toTimeString().slice(0, 8));
}

/** Mark the page as possibly out of date; "as of" keeps the time of the last message. */
function markStale() {
  if (!onHold) badge.dataset.value = "stale";
}

/** Synchronise with the table's clock. The message with the shortest delay is the most accurate. */
function setClock(/** @type {string} */ time) {
  ahead = Math.max(ahead, Number(time) - performance.now() / 1000);
  showClocks();
}

/** Open the stream and close an older one. */
function openStream() {
  clearTimeout(again);
  source?.close();
  lastContactMs = performance.now();
  const stream = new EventSource(STREAM + (lastId && `${STREAM.includes("?") ? "&" : "?"}last=${encodeURIComponent(lastId)}`));
  source = stream;
  stream.addEventListener("view", (event) => {
    lastId = event.lastEventId;
    /** @type {Board} */
    const board = JSON.parse(event.data);
    if (board.marks.seal === "sealed") remember(board.texts.seal);
    next = board;
    turn();
    markLive();
  });
  stream.addEventListener("beat", (event) => {
    setClock(event.data);
    markLive();
  });
  stream.addEventListener("error", () => {
    // The browser itself gives up for good after a refusal (a table that restarts), and its
    // delay is not defined. So the page reconnects itself, and sends the last id as the browser would.
    stream.close();
    if (stream !== source) return;
    markStale();
    clearTimeout(again);
    again = setTimeout(openStream, AGAIN_MS + Math.random() * SPREAD_MS);
  });
}

/** Show the times left until the ends (seconds on the table's clock), if these are near. A stopped clock keeps its value. */
function showClocks() {
  if (onHold || ahead === -Infinity) return;
  for (const clock of document.querySelectorAll("[data-clock]")) {
    const end = clock.parentElement?.dataset.value;
    const stopped = clock.getAttribute("data-value");
    const left = end ? Number(end) - (stopped ? Number(stopped) : performance.now() / 1000 + ahead) : Infinity;
    const seconds = Math.max(0, Math.ceil(left));
    const near = Math.abs(left) < FAR_S;
    say(clock, near ? `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}` : "");
  }
}
setInterval(showClocks, 250);

hold?.toggleAttribute("hidden", false);
hold?.addEventListener("click", () => {
  onHold = !onHold;
  hold.setAttribute("aria-pressed", String(onHold));
  badge.dataset.value = onHold ? "held" : "stale";
  if (!onHold) openStream();
  turn();
});

setInterval(() => {
  if (performance.now() - lastContactMs > SILENT_MS) {
    markStale();
    openStream();
  }
}, 5_000);
addEventListener("offline", markStale);
addEventListener("online", openStream);
addEventListener("pageshow", (event) => {
  if (event.persisted) openStream();
});
let hiddenAtMs = 0;
document.addEventListener("visibilitychange", () => {
  if (document.hidden) hiddenAtMs = Date.now();
  else if (Date.now() - hiddenAtMs > ASLEEP_MS) openStream();
});
addEventListener("pagehide", () => source?.close());
openStream();
