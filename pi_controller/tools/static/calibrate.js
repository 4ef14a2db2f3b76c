// Keeps the calibration's page current: each event brings the whole walk as it is to be shown.
// @ts-check
import { noteDrawn } from "./drawn.js";

const SILENT_MS = 25_000; // two beats and some
const walk = /** @type {HTMLElement} */ (document.getElementById("walk"));
const instruction = /** @type {HTMLElement} */ (document.getElementById("said"));
const badge = /** @type {HTMLElement} */ (document.getElementById("badge"));
let lastContactMs = performance.now();

const stream = new EventSource("/events");
stream.addEventListener("walk", (event) => {
  lastContactMs = performance.now();
  badge.dataset.value = "live";
  const news = JSON.parse(event.data);
  walk.innerHTML = news.html; // the server has escaped every text in it
  if (instruction.textContent !== news.said) instruction.textContent = news.said;
  noteDrawn(event.lastEventId);
  if (news.over) stream.close(); // the walk is at its end, and soon the server is
});
stream.addEventListener("beat", () => {
  lastContactMs = performance.now();
});
stream.addEventListener("error", () => {
  badge.dataset.value = "stale";
});
setInterval(() => {
  if (stream.readyState !== EventSource.CLOSED && performance.now() - lastContactMs > SILENT_MS) badge.dataset.value = "stale";
}, 1000);
