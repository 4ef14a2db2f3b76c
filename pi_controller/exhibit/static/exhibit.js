// The installation's page: draws what the table sends, sends back what is touched, and comes back by itself.
// @ts-check
import { tellHere } from "./here.js";

const SILENT_MS = 25_000;
const AGAIN_MS = 1_000;
const CORNER_PX = 96;
const HELD_MS = 3_000;
const screen = /** @type {HTMLElement} */ (document.getElementById("screen"));
const news = /** @type {HTMLElement} */ (document.getElementById("news"));
const away = /** @type {HTMLElement} */ (document.getElementById("away"));
let source = /** @type {EventSource | null} */ (null);
let heard = performance.now();
let ends = Infinity;
let said = "";

/** @typedef {{ html: string, stage: string, turn: number, low: boolean, language: string, title: string,
 *   said: string, left: number | null, bright: number }} Screen */

/** Show a picture; who had chosen something with the keyboard keeps it where it is still there. */
function draw(/** @type {Screen} */ shown) {
  const chosen = document.activeElement?.getAttribute("data-do");
  screen.innerHTML = shown.html;
  document.title = shown.title;
  document.documentElement.lang = shown.language;
  Object.assign(document.body.dataset, { stage: shown.stage, low: shown.low ? "yes" : "", turn: String(shown.turn) });
  document.body.style.setProperty("--shade", String(1 - shown.bright));
  ends = shown.left === null ? Infinity : performance.now() + shown.left * 1000;
  if (chosen) /** @type {HTMLElement | null} */ (screen.querySelector(`[data-do="${chosen}"]`))?.focus();
  if (shown.said !== said && shown.stage !== "attract") news.textContent = shown.said;
  said = shown.said;
  count();
}

function count() {
  const told = screen.querySelector("[data-left]");
  if (told) told.textContent = ends === Infinity ? "" : String(Math.max(0, Math.ceil((ends - performance.now()) / 1000)));
}
setInterval(count, 250);

function open() {
  source?.close();
  heard = performance.now();
  const stream = new EventSource("/events");
  source = stream;
  stream.addEventListener("screen", (event) => {
    draw(JSON.parse(event.data));
    alive();
  });
  stream.addEventListener("beat", alive);
  stream.addEventListener("error", () => {
    stream.close();
    if (stream !== source) return;
    away.hidden = false;
    setTimeout(open, AGAIN_MS);
  });
}

function alive() {
  heard = performance.now();
  away.hidden = true;
}
setInterval(() => {
  if (performance.now() - heard > SILENT_MS) open();
}, 5_000);

document.addEventListener("click", (event) => {
  const touched = event.target instanceof Element ? event.target.closest("[data-do]") : null;
  if (!touched) return;
  const turn = Number(document.body.dataset.turn);
  touched.classList.add("pressed");
  fetch("/touch", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ do: touched.getAttribute("data-do"), turn }),
  }).catch(() => {
    away.hidden = false;
  });
});

/** Who holds the corner of the screen long enough comes to the staff page; nobody does by chance. */
let held = 0;
addEventListener("pointerdown", (event) => {
  clearTimeout(held);
  if (event.clientX < CORNER_PX && event.clientY < CORNER_PX) held = setTimeout(() => location.assign("/staff"), HELD_MS);
});
for (const kind of ["pointerup", "pointercancel"]) addEventListener(kind, () => clearTimeout(held));

document.addEventListener("contextmenu", (event) => event.preventDefault());
addEventListener("pagehide", () => source?.close());
addEventListener("pageshow", (event) => {
  if (event.persisted) open();
});
open();
tellHere();
