// The installation's page: draws what the table sends, sends back what is touched, and comes back by itself.
// @ts-check
import { announceNews, speak } from "./announce.js";
import { noteDrawn } from "./drawn.js";
import { tellHere } from "./here.js";
import { EASE_OUT, LONG_MS, MEDIUM_MS, SHORT_MS, noteSticks } from "./motion.js";
import { patch } from "./regions.js";
import { ask } from "./request.js";
import { follow } from "./stream.js";

const CORNER_PX = 96;
const HELD_MS = 3_000;
const REVEAL_MS = 1_300; // the stick comes down and the cloth is turned back before the sticks move
const COUNTING_MS = 800;
const still = matchMedia("(prefers-reduced-motion: reduce)");
const ring = document.createElement("div"); // where a finger touches
ring.className = "ring";
document.body.append(ring);
const screen = /** @type {HTMLElement} */ (document.getElementById("screen"));
const away = /** @type {HTMLElement} */ (document.getElementById("away"));
let ends = Infinity;

/** @typedef {{ html: string, stage: string, turn: number, low: boolean, language: string, title: string,
 *   heard: import("./announce.js").Spoken, left: number | null, bright: number }} Screen */

/** The marks of the cloths: they change when a cloth is turned back. */
function marks() {
  return [...screen.querySelectorAll(".pad")].map((pad) => pad.getAttribute("data-value")).join();
}

/** The number of sticks that each number on the page is or counts to. @type {WeakMap<Element, number>} */
const targets = new WeakMap();

/** Bring the numbers of sticks up to date: at once, or counting while the sticks move. */
function countSticks(/** @type {boolean} */ slowly) {
  for (const number of screen.querySelectorAll("[data-counted]")) {
    const end = Number(number.getAttribute("data-counted"));
    if (targets.get(number) === end) continue;
    targets.set(number, end);
    if (slowly) setTimeout(countOn, REVEAL_MS, number, end, COUNTING_MS / Math.max(1, Math.abs(end - Number(number.textContent))));
    else number.textContent = String(end);
  }
}

/** Count `number` one nearer to `end`, and so on, unless it has another end by now. */
function countOn(/** @type {Element} */ number, /** @type {number} */ end, /** @type {number} */ pause) {
  const now = Number(number.textContent);
  if (targets.get(number) !== end || now === end) return;
  number.textContent = String(now + Math.sign(end - now));
  setTimeout(countOn, pause, number, end, pause);
}

/** Show a picture. */
function draw(/** @type {Screen} */ now) {
  const before = marks();
  const same = now.stage === document.body.dataset.stage;
  const landed = same ? noteSticks(REVEAL_MS) : () => {};
  const counted = [...screen.querySelectorAll("[data-counted]")].map((number) => /** @type {const} */ ([number, number.textContent]));
  patch(screen, now.html);
  for (const [number, text] of counted) number.textContent = text; // it counts from there
  document.title = now.title;
  // the same language set again makes Chromium restyle all that is on the page
  if (document.documentElement.lang !== now.language) document.documentElement.lang = now.language;
  Object.assign(document.body.dataset, { stage: now.stage, low: now.low ? "yes" : "", turn: String(now.turn) });
  landed();
  countSticks(same && !still.matches);
  if (!still.matches && now.stage === "play" && marks() !== before) {
    // what happened is told after it is seen
    screen.querySelector(".lead")?.animate([{ opacity: 0 }, { opacity: 1 }], { duration: SHORT_MS, delay: LONG_MS, fill: "backwards" });
  }
  document.body.style.setProperty("--shade", String(1 - now.bright));
  ends = now.left === null ? Infinity : performance.now() + now.left * 1000;
  announceNews(now.heard);
  if (!now.heard.lines[0]) speak("news", ""); // nothing of the last visitor stays
  count();
}

function count() {
  const clock = screen.querySelector("[data-left]");
  if (clock) clock.textContent = ends === Infinity ? "" : String(Math.max(0, Math.ceil((ends - performance.now()) / 1000)));
}
setInterval(count, 250);

follow(
  "/events",
  {
    screen(data, id) {
      draw(JSON.parse(data));
      noteDrawn(id);
    },
  },
  {
    onLive() {
      away.hidden = true;
      tellHere();
    },
    onStale() {
      away.hidden = false;
    },
  },
);

/** The control that is touched, or the stage, which starts a game or skips the mat's turn. */
function touchedBy(/** @type {Event} */ event) {
  return event.target instanceof Element ? event.target.closest("[data-do], [data-touch]") : null;
}

/** Answer a finger at once: a ring where it touches, and the control gives way. */
addEventListener("pointerdown", (event) => {
  const touched = touchedBy(event);
  if (!touched || still.matches) return;
  const at = `translate(${event.clientX}px, ${event.clientY}px)`;
  ring.animate([{ opacity: 1, transform: `${at} scale(0.3)` }, { opacity: 0, transform: `${at} scale(1.3)` }], MEDIUM_MS);
  const moved = touched.closest(".pad, button");
  if (moved) moved.animate([{ scale: 0.95 }, { scale: 1 }], { duration: SHORT_MS, easing: EASE_OUT });
});

const nameOf = (/** @type {Element} */ touched) => touched.getAttribute("data-do") ?? touched.getAttribute("data-touch") ?? "";
const turnNow = () => Number(document.body.dataset.turn);

/** Send a touch of the control `name` on the screen numbered `turn`. */
function send(/** @type {string} */ name, /** @type {number} */ turn) {
  ask("/touch", { do: name, turn }).then(({ error }) => {
    if (error?.code === "away") away.hidden = false;
  });
}

document.addEventListener("click", (event) => {
  const touched = touchedBy(event);
  if (touched && /** @type {PointerEvent} */ (event).pointerType !== "touch") send(nameOf(touched), turnNow());
});

/** Where each finger went down: while one rests on the glass, a browser makes no clicks of the others.
 * @type {Map<number, { name: string, turn: number }>} */
const fingers = new Map();
addEventListener("pointerdown", (event) => {
  const touched = touchedBy(event);
  if (touched && event.pointerType === "touch") fingers.set(event.pointerId, { name: nameOf(touched), turn: turnNow() });
});
addEventListener("pointerup", (event) => {
  const down = fingers.get(event.pointerId);
  fingers.delete(event.pointerId);
  const under = document.elementFromPoint(event.clientX, event.clientY)?.closest("[data-do], [data-touch]");
  if (down && under && nameOf(under) === down.name) send(down.name, down.turn);
});
addEventListener("pointercancel", (event) => fingers.delete(event.pointerId));

/** Keys 1 to 9 choose as the voice says them; every other number says the last prompt again. */
addEventListener("keydown", (event) => {
  if (event.repeat || event.ctrlKey || event.altKey || event.metaKey || !/^[0-9]$/.test(event.key)) return;
  const number = document.body.dataset.stage === "attract" ? "1" : event.key;
  const chosen = screen.querySelector(`[data-number="${number}"]`);
  send(chosen ? nameOf(chosen) : "repeat", turnNow());
});

/** Who holds the corner of the screen long enough comes to the staff page; nobody does by chance. */
let holdTimer = 0;
addEventListener("pointerdown", (event) => {
  clearTimeout(holdTimer);
  if (event.clientX < CORNER_PX && event.clientY < CORNER_PX) holdTimer = setTimeout(() => location.assign("/staff"), HELD_MS);
});
for (const kind of ["pointerup", "pointercancel"]) addEventListener(kind, () => clearTimeout(holdTimer));

document.addEventListener("contextmenu", (event) => event.preventDefault());
