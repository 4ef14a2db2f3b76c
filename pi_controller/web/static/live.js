// Updates the live page: receives events and patches elements by their keys. The page is complete without it.
// @ts-check

import { News } from "./announce.js";
import { noteDrawn } from "./drawn.js";
import { holdResult, noteSticks } from "./motion.js";
import { remember } from "./seals.js";
import { follow, mark } from "./stream.js";
import { sounds } from "./tones.js";

/**
 * @typedef {{ texts: Record<string, string>, marks: Record<string, string>,
 *   layout: string, table: string }} Board
 */

const FAR_S = 86_400; // a later end is of another clock: a simulated game's
const PICTURE_MS = 350; // minimum time of each state on the page, so that it never flashes three times a second

const hold = document.getElementById("hold");
const asOf = /** @type {HTMLElement} */ (document.getElementById("as-of"));

/** The id of the newest event. */
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
function onLive() {
  if (onHold) return;
  mark("live");
  say(asOf, new Date().toTimeString().slice(0, 8));
}

/** Mark the page as possibly out of date; "as of" keeps the time of the last message. */
function onStale() {
  if (!onHold) mark("stale");
}

/** Synchronise with the table's clock. The message with the shortest delay is the most accurate. */
function setClock(/** @type {string} */ time) {
  ahead = Math.max(ahead, Number(time) - performance.now() / 1000);
  showClocks();
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

const stream = follow(
  document.body.dataset.events ?? "/events",
  {
    view(data, id) {
      lastId = id;
      /** @type {Board} */
      const board = JSON.parse(data);
      if (board.marks.seal === "sealed") remember(board.texts.seal);
      next = board;
      turn();
    },
    beat: setClock,
  },
  { onLive, onStale },
);

hold?.toggleAttribute("hidden", false);
hold?.addEventListener("click", () => {
  onHold = !onHold;
  hold.setAttribute("aria-pressed", String(onHold));
  mark(onHold ? "held" : "stale");
  if (!onHold) stream.open();
  turn();
});
