// The wall of the hall: turns through tables, next matches, bracket, standings and the end, each as large as the screen allows.
// @ts-check
import "./boards.js";

const TURN_MS = 12_000;
const CARDS = 6; // tables at a time
const MATCHES = 6; // of the queue,
const LINES = 3; // so many at a time
const STEPS = 12;
const LARGEST = 5;
const ROWS = 6; // of the standings
const FILLED = 0.99; // of the width: a zoom rounds lengths up
const CAPITAL = 0.714; // height of a capital of our font, in its size
const PICTURE_M = 3; // a usual width
const READ_FROM = 200; // heights of a capital
const FAR_M = 15; // the back of a usual hall
const CAPITALS = (PICTURE_M * READ_FROM) / FAR_M; // so many heights of a capital that is read from there are the picture's width

const slides = /** @type {HTMLElement[]} */ ([...document.querySelectorAll(".slide")]);
/** The part that is shown: a slide, and its page. */
let at = { slide: 0, page: 0 };
let rounds = 0; // how often all parts were shown

const body = (/** @type {HTMLElement} */ slide) => /** @type {HTMLElement} */ (slide.querySelector(".fitted"));
const standings = (/** @type {HTMLElement} */ slide) => (slide.dataset.slide === "standings" ? /** @type {HTMLElement[]} */ ([...slide.querySelectorAll(".ranking tbody tr")]) : []);
const cards = (/** @type {HTMLElement} */ slide) => /** @type {HTMLElement[]} */ ([...slide.querySelectorAll(".table-card")]);
const matches = (/** @type {HTMLElement} */ slide) => /** @type {HTMLElement[]} */ ([...slide.querySelectorAll(".queue li")]).slice(0, MATCHES);

/** Return the parts of the bracket for this round of turning: all that can be played now, and one of the others. */
function bracketParts(/** @type {HTMLElement} */ slide) {
  const all = /** @type {HTMLElement[]} */ ([...slide.querySelectorAll(".wall-part")]);
  const others = all.filter((one) => !one.dataset.now);
  const extra = others[((rounds % others.length) + others.length) % others.length];
  return all.filter((one) => one.dataset.now || one === extra);
}

/** Return `name` without its middle or end: `count` of its letters remain, `tail` of them at the end. */
function cut(/** @type {string[]} */ letters, /** @type {number} */ count, /** @type {number} */ tail) {
  const end = tail ? letters.slice(-tail).join("").trimStart() : "";
  return `${letters.slice(0, count - tail).join("").trimEnd()}…${end}`;
}

/** Return the letters of a text, each with its marks where the browser knows them. */
const lettersOf = (/** @type {string} */ text) => (Intl.Segmenter ? [...new Intl.Segmenter().segment(text)].map((one) => one.segment) : [...text]);

/** Shorten each name to its room. Of two names that would look the same, the ends are kept too. */
function shorten(/** @type {HTMLElement[]} */ texts) {
  for (const one of texts) one.textContent = one.dataset.whole ??= one.textContent ?? "";
  const fits = (/** @type {HTMLElement} */ one) => one.scrollWidth <= one.clientWidth;
  const trim = (/** @type {HTMLElement} */ one, /** @type {boolean} */ keepsEnd) => {
    const letters = lettersOf(one.dataset.whole ?? "");
    let [low, high] = [1, letters.length];
    while (low < high - 1) {
      const count = (low + high) >> 1;
      one.textContent = cut(letters, count, keepsEnd ? count >> 1 : 0);
      if (fits(one)) low = count;
      else high = count;
    }
    one.textContent = cut(letters, low, keepsEnd ? low >> 1 : 0);
  };
  const long = texts.filter((one) => !fits(one));
  for (const one of long) trim(one, false);
  const looks = long.map((one) => one.textContent);
  const isTwin = (/** @type {HTMLElement} */ one, /** @type {number} */ n) => long.some((other, m) => looks[m] === looks[n] && other.dataset.whole !== one.dataset.whole);
  long.filter(isTwin).forEach((one) => trim(one, true));
}

/** Show one part of the bracket. */
function showPart(/** @type {HTMLElement} */ slide) {
  const shown = bracketParts(slide)[at.page];
  slide.querySelectorAll(".wall-part").forEach((one) => one.toggleAttribute("hidden", one !== shown));
}

/** Return how many pages a slide has: 0 if it has nothing to show. */
function pages(/** @type {HTMLElement} */ slide) {
  switch (slide.dataset.slide) {
    case "tables": return Math.ceil(cards(slide).length / CARDS);
    case "queue": return Math.ceil(matches(slide).length / LINES);
    case "bracket": return bracketParts(slide).length;
    case "end": return slide.querySelector(".end") ? 1 : 0;
    default: return Math.ceil(standings(slide).length / ROWS);
  }
}

/** Return the most that a slide is enlarged: long names only until they are read from far away, so that more of them is seen. */
function largest(/** @type {HTMLElement} */ slide) {
  const name = slide.querySelector(".wall-part:not([hidden]) .long");
  if (!name) return LARGEST;
  body(slide).style.zoom = "1";
  return innerWidth / CAPITALS / (CAPITAL * parseFloat(getComputedStyle(name).fontSize));
}

/** Enlarge a slide's content as far as it fits. */
function fit(/** @type {HTMLElement} */ slide) {
  const inner = body(slide);
  let [low, high] = [0.1, largest(slide)];
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

/** Say from how far the names that are shown are read, if that is not far enough. */
function sayReach(/** @type {HTMLElement} */ slide) {
  const names = /** @type {HTMLElement[]} */ ([...slide.querySelectorAll(".side:not(.from) bdi, .score bdi, .queue li, .ranking bdi")]);
  const sizes = names.filter((one) => one.getClientRects().length).map((one) => parseFloat(getComputedStyle(one).fontSize) * (one.currentCSSZoom ?? 1));
  const metres = Math.round((CAPITALS * CAPITAL * FAR_M * Math.min(...sizes)) / innerWidth);
  const line = /** @type {HTMLElement} */ (document.getElementById("reach"));
  line.textContent = metres < FAR_M ? (document.body.dataset.reach ?? "").replace("{n}", String(metres)) : "";
}

function show() {
  slides.forEach((slide, n) => slide.classList.toggle("shown", n === at.slide));
  const slide = slides[at.slide];
  cards(slide).forEach((card, n) => (card.hidden = Math.floor(n / CARDS) !== at.page));
  slide.querySelectorAll(".queue li").forEach((line, n) => (/** @type {HTMLElement} */ (line).hidden = n >= MATCHES || Math.floor(n / LINES) !== at.page));
  standings(slide).forEach((row, n) => (row.hidden = Math.floor(n / ROWS) !== at.page));
  if (slide.dataset.slide === "bracket") showPart(slide);
  for (let height = -1; height !== slide.clientHeight; ) { // the line of the distance may take room from the slide
    height = slide.clientHeight;
    fit(slide);
    sayReach(slide);
  }
  shorten([.../** @type {NodeListOf<HTMLElement>} */ (slide.querySelectorAll(".wall-part:not([hidden]) bdi"))]); // in the size that they have now
  shorten(standings(slide).flatMap((row) => (row.hidden ? [] : [.../** @type {NodeListOf<HTMLElement>} */ (row.querySelectorAll("bdi"))])));
  const all = slides.flatMap((one, n) => Array.from({ length: pages(one) }, (_, page) => n === at.slide && page === at.page));
  const dots = /** @type {HTMLElement} */ (document.getElementById("dots"));
  dots.replaceChildren(...all.map((shown) => Object.assign(document.createElement("i"), { className: shown ? "shown" : "" })));
}

/** Go on to the next part that has something to show. */
function turn(/** @type {number} */ step = 1) {
  const all = slides.flatMap((slide, n) => Array.from({ length: pages(slide) }, (_, page) => ({ slide: n, page })));
  if (!all.length) return;
  const now = all.findIndex((one) => one.slide === at.slide && one.page === at.page);
  const next = Math.max(now, step > 0 ? -1 : 0) + step;
  rounds += Math.floor(next / all.length);
  at = all[(next + all.length) % all.length];
  show();
}

document.body.classList.add("turning");
const end = slides[slides.length - 1];
let ended = pages(end) > 0; // the champion is shown at once, then in turn
if (ended) at.slide = slides.length - 1;
else if (!pages(slides[0])) turn();
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
document.fonts?.addEventListener("loadingdone", show); // a font is loaded when its first letter is shown
// a region was redrawn: its size may be another
document.addEventListener("drawn", () => {
  const hasEnded = !ended && pages(end) > 0;
  ended = pages(end) > 0;
  if (hasEnded) at = { slide: slides.length - 1, page: 0 };
  if (pages(slides[at.slide]) > at.page) show();
  else turn();
});
