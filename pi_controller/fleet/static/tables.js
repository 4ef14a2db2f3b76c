// Keeps the page of all tables current: each event brings all of them as they are to be shown.
// @ts-check

const SILENT_MS = 25_000; // two beats and some
const tables = /** @type {HTMLElement} */ (document.getElementById("tables"));
const wanted = /** @type {HTMLElement} */ (document.getElementById("wanted"));
const badge = /** @type {HTMLElement} */ (document.getElementById("badge"));
let heard = performance.now();

const stream = new EventSource("/events");
stream.addEventListener("tables", (event) => {
  heard = performance.now();
  badge.dataset.value = "live";
  const news = JSON.parse(event.data);
  tables.innerHTML = news.html; // the server has escaped every text in it
  if (wanted.textContent !== news.wanted) wanted.textContent = news.wanted;
});
stream.addEventListener("beat", () => {
  heard = performance.now();
  badge.dataset.value = "live";
});
stream.addEventListener("error", () => {
  badge.dataset.value = "stale";
});
setInterval(() => {
  if (performance.now() - heard > SILENT_MS) badge.dataset.value = "stale";
}, 1000);
