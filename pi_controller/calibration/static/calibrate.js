// Keeps the calibration's page current: each event brings the whole walk as it is to be shown.
// @ts-check

const SILENT_MS = 25_000; // two beats and some
const walk = /** @type {HTMLElement} */ (document.getElementById("walk"));
const said = /** @type {HTMLElement} */ (document.getElementById("said"));
const badge = /** @type {HTMLElement} */ (document.getElementById("badge"));
let heard = performance.now();

const stream = new EventSource("/events");
stream.addEventListener("walk", (event) => {
  heard = performance.now();
  badge.dataset.value = "live";
  const news = JSON.parse(event.data);
  walk.innerHTML = news.html; // the server has escaped every text in it
  if (said.textContent !== news.said) said.textContent = news.said;
  if (news.over) stream.close(); // the walk is at its end, and soon the server is
});
stream.addEventListener("beat", () => {
  heard = performance.now();
});
stream.addEventListener("error", () => {
  badge.dataset.value = "stale";
});
setInterval(() => {
  if (stream.readyState !== EventSource.CLOSED && performance.now() - heard > SILENT_MS) badge.dataset.value = "stale";
}, 1000);
