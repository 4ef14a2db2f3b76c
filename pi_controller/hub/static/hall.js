// The wall of the hall: turns through tables, next matches, bracket and standings, each as large as the screen allows.
// @ts-check
import "./boards.js";

const TURN_MS = 12_000;
const CARDS = 6; // tables at a time
const MATCHES = 8;
const STEPS = 12;
const LARGEST = 5;
const FILLED = 0.99; // of the width: a zoom rounds lengths up
const TALL = 560; // units of a bracket from which its sides are shown one after the other
const BESIDE = 16; // units to the right of the last box
const ABOVE = 26; // units from the top of a side to the line of its heading

const slides = /** @type {HTMLElement[]} */ ([...document.querySelectorAll(".slide")]);
/** The part that is shown: a slide, and its page of tables. */
let at = { slide: 0, page: 0 };

const body = (/** @type {HTMLElement} */ slide) => /** @type {HTMLElement} */ (slide.querySelector(".fitted"));
const cards = (/** @type {HTMLElement} */ slide) => /** @type {HTMLElement[]} */ ([...slide.querySelectorAll(".table-card")]);

/** Return the parts of the bracket, as [top, bottom] in its own units: the whole, and its sides too if it is tall. */
function sides(/** @type {HTMLElement} */ slide) {
  const svg = slide.querySelector("svg");
  if (!svg) return [];
  svg.dataset.whole ??= svg.getAttribute("viewBox") ?? "";
  const height = Number(svg.dataset.whole.split(" ")[3]);
  const tops = [...svg.querySelectorAll("text.side")].map((one) => Math.max(0, Number(one.getAttribute("y")) - ABOVE));
  const whole = [0, height];
  return height < TALL || tops.length < 2 ? [whole] : [whole, ...tops.map((top, n) => [n ? top : 0, tops[n + 1] ?? height])];
}

/** Show one part of the bracket, as wide as what is in it; the final, far to the right, is no part of a side. */
function crop(/** @type {HTMLElement} */ slide) {
  const svg = slide.querySelector("svg");
  if (!svg) return;
  const [top, bottom] = sides(slide)[at.page] ?? [0, 0];
  const number = (/** @type {Element} */ one, /** @type {string} */ name) => Number(one.getAttribute(name));
  const boxes = [...svg.querySelectorAll("rect")].filter((one) => number(one, "y") >= top && number(one, "y") < bottom);
  const columns = [...new Set(boxes.map((one) => number(one, "x")))].sort((a, b) => a - b);
  const last = columns.length - 1;
  if (at.page && columns[last] - columns[last - 1] > 2 * (columns[1] - columns[0])) columns.pop();
  const width = /** @type {number} */ (columns.at(-1)) + number(boxes[0], "width") + BESIDE;
  svg.setAttribute("viewBox", `0 ${top} ${width} ${bottom - top}`);
  svg.setAttribute("width", String(width));
}

/** Return how many pages a slide has: 0 if it has nothing to show. */
function pages(/** @type {HTMLElement} */ slide) {
  switch (slide.dataset.slide) {
    case "tables": return Math.ceil(cards(slide).length / CARDS);
    case "queue": return slide.querySelector("li") ? 1 : 0;
    case "bracket": return sides(slide).length;
    default: return slide.querySelector(".ranking") ? 1 : 0;
  }
}

/** Enlarge a slide's content as far as it fits. */
function fit(/** @type {HTMLElement} */ slide) {
  const inner = body(slide);
  let [low, high] = [0.1, LARGEST];
  inner.style.setProperty("--width", `${slide.clientWidth * FILLED}px`);
  for (let n = 0; n < STEPS; n++) {
    const zoom = (low + high) / 2;
    inner.style.setProperty("--zoom", String(zoom));
    inner.style.zoom = String(zoom);
    const fits = slide.scrollHeight <= slide.clientHeight + 1 && slide.scrollWidth <= slide.clientWidth + 1;
    if (fits) low = zoom;
    else high = zoom;
  }
  inner.style.setProperty("--zoom", String(low));
  inner.style.zoom = String(low);
}

function show() {
  slides.forEach((slide, n) => slide.classList.toggle("shown", n === at.slide));
  const slide = slides[at.slide];
  cards(slide).forEach((card, n) => (card.hidden = Math.floor(n / CARDS) !== at.page));
  slide.querySelectorAll(".queue li").forEach((line, n) => (/** @type {HTMLElement} */ (line).hidden = n >= MATCHES));
  if (slide.dataset.slide === "bracket") crop(slide);
  fit(slide);
  const all = slides.flatMap((one, n) => Array.from({ length: pages(one) }, (_, page) => n === at.slide && page === at.page));
  const dots = /** @type {HTMLElement} */ (document.getElementById("dots"));
  dots.replaceChildren(...all.map((shown) => Object.assign(document.createElement("i"), { className: shown ? "shown" : "" })));
}

/** Go on to the next part that has something to show. */
function turn(/** @type {number} */ step = 1) {
  const all = slides.flatMap((slide, n) => Array.from({ length: pages(slide) }, (_, page) => ({ slide: n, page })));
  if (!all.length) return;
  const now = all.findIndex((one) => one.slide === at.slide && one.page === at.page);
  at = all[(Math.max(now, step > 0 ? -1 : 0) + step + all.length) % all.length];
  show();
}

document.body.classList.add("turning");
if (!pages(slides[0])) turn();
show();
let timer = setInterval(turn, TURN_MS);
addEventListener("keydown", (event) => {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (step === undefined) return;
  clearInterval(timer);
  timer = setInterval(turn, TURN_MS);
  turn(step);
});
addEventListener("resize", show);
document.fonts?.ready.then(show);
// a part was redrawn: its size may be another
new MutationObserver(() => (pages(slides[at.slide]) > at.page ? show() : turn())).observe(/** @type {HTMLElement} */ (document.getElementById("slides")), { childList: true, subtree: true });
