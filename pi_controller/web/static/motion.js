// Animations of a change: sticks fly to their new owner, and the result of a turn is shown for a moment.
// @ts-check

const FLIGHT_MS = 800;
const APART = 0.35; // share of it until the last stick leaves; the strips of lights walk in the same time (lights.py)
const HELD_MS = 4_500;
const GLOSS_MS = 4_000;

const still = matchMedia("(prefers-reduced-motion: reduce)");

/* The times and easings of tokens.css, read once: later each look would make the browser update all styles. */
const tokens = getComputedStyle(document.documentElement);
const readMs = (/** @type {string} */ name) => 1000 * Number.parseFloat(tokens.getPropertyValue(name));
export const SHORT_MS = readMs("--time-short");
export const MEDIUM_MS = readMs("--time-medium");
export const LONG_MS = readMs("--time-long");
export const EASE_OUT = tokens.getPropertyValue("--ease-out");
const EASE_IN_OUT = tokens.getPropertyValue("--ease-in-out");

/** The rows of sticks on the page, each with its owner. */
function rows() {
  return [...document.querySelectorAll(".sticks")].map((row) => /** @type {HTMLElement[]} */ ([...row.querySelectorAll(":scope > i.on")]));
}

/** Store the position of each stick before a change; the returned function animates them from there. */
export function noteSticks(/** @type {number} */ delay = 0) {
  if (still.matches || !document.body.matches(".room, .exhibit")) return () => {};
  const before = rows().map((row) => row.map((stick) => stick.getBoundingClientRect()));
  return () => {
    const after = rows();
    if (after.length !== before.length) return;
    const from = after.flatMap((row, i) => before[i].slice(row.length));
    const to = after.flatMap((row, i) => row.slice(before[i].length));
    to.slice(0, from.length).forEach((stick, i) => fly(stick, from[i], i / to.length, delay));
  };
}

/** Animate `stick` from the position of another one. */
function fly(/** @type {HTMLElement} */ stick, /** @type {DOMRect} */ from, /** @type {number} */ late, wait = 0) {
  const there = stick.getBoundingClientRect();
  if (!there.width || !there.height || !from.width) return;
  const x = from.x + from.width / 2 - there.x - there.width / 2;
  const y = from.bottom - there.bottom;
  const size = from.height / there.height;
  const spread = late * APART * FLIGHT_MS;
  stick.style.zIndex = "5";
  const flight = stick.animate(
    [
      { transform: `translate(${x}px, ${y}px) scale(${size})` },
      { transform: `translate(${x / 2}px, ${y / 2 - there.height / 4}px) rotate(${x < 0 ? -12 : 12}deg)` },
      { transform: "none" },
    ],
    { duration: FLIGHT_MS * (1 - APART), delay: wait + spread, easing: EASE_IN_OUT, fill: "backwards" },
  );
  flight.onfinish = () => stick.style.removeProperty("z-index");
}

/** @type {ReturnType<typeof setTimeout> | undefined} */
let holding;
/** @type {string | undefined} */
let moment;

/** Show the result of a turn for a moment instead of the state of play. A question to the judge has priority. */
export function holdResult(/** @type {import("./announce.js").News} */ news) {
  const result = document.querySelector(".result")?.textContent;
  const changed = moment !== undefined && news.moment !== moment;
  const came = changed && result && result !== news.lines[0];
  moment = news.moment;
  if (changed && news.calls) gloss();
  if (news.phase === "halted" || news.question || (!result && holding)) return release();
  if (!came) return;
  clearTimeout(holding);
  document.body.dataset.result = "shown";
  holding = setTimeout(release, HELD_MS);
}

/** @type {ReturnType<typeof setTimeout> | undefined} */
let glossing;

/** Show the meaning of a call for a moment, on a page with room for it. */
function gloss() {
  clearTimeout(glossing);
  document.body.dataset.gloss = "shown";
  glossing = setTimeout(() => delete document.body.dataset.gloss, GLOSS_MS);
}

function release() {
  clearTimeout(holding);
  holding = undefined;
  delete document.body.dataset.result;
}
