// Keeps a page of the table current: each event has the HTML of its regions. The page is complete without it.
// @ts-check
import { announceNews, readNews } from "./announce.js";
import { noteDrawn } from "./drawn.js";
import { holdResult, noteSticks } from "./motion.js";
import { draw, setClock } from "./regions.js";
import { remember } from "./seals.js";
import { follow, mark } from "./stream.js";
import { sounds } from "./tones.js";

/** @typedef {{ id: string, regions: Record<string, string> }} Update */

const PICTURE_MS = 350; // minimum time of each state on the page, so that it never flashes three times a second

const hold = document.getElementById("hold");
const sound = sounds(document.getElementById("sound"));

/** @type {Update | null} */
let next = null;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let turning;
let onHold = false;

/** Show an update. */
function show(/** @type {Update} */ { id, regions }) {
  const letFly = noteSticks();
  draw(regions);
  letFly();
  const news = readNews();
  if (document.title !== news.title) document.title = news.title;
  holdResult(news);
  announceNews(news);
  sound(news);
  noteDrawn(id);
}

/** Show the newest update, unless the last one is too recent or is held. */
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
  /** @type {HTMLElement} */ (document.getElementById("as-of")).textContent = new Date().toTimeString().slice(0, 8);
}

/** Mark the page as possibly out of date; "as of" keeps the time of the last message. */
function onStale() {
  if (!onHold) mark("stale");
}

const stream = follow(
  document.body.dataset.events ?? "/events",
  {
    view(data, id) {
      const { view, regions } = JSON.parse(data);
      if (view.commit && view.commit !== view.opening?.hash) remember(view.commit);
      next = { id, regions };
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
