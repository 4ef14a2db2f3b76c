// Keeps a page of the hub current: each event brings the parts that have changed, as they are to be shown.
// @ts-check

const SILENT_MS = 25_000; // two beats and some
const badge = /** @type {HTMLElement} */ (document.getElementById("badge"));
let heard = performance.now();

/** Put `html` into a part, unless somebody is typing there. */
function put(/** @type {HTMLElement} */ part, /** @type {string} */ html) {
  const busy = [...part.querySelectorAll("input, select")].some((one) => one === document.activeElement || (one instanceof HTMLInputElement && one.value !== one.defaultValue));
  if (part.dataset.html === html || busy) return;
  const open = [...part.querySelectorAll("details")].map((one) => one.open);
  part.innerHTML = part.dataset.html = html; // the server has escaped every text in it
  part.querySelectorAll("details").forEach((one, n) => (one.open = open[n] ?? false));
}

const stream = new EventSource(document.body.dataset.events ?? "/events");
stream.addEventListener("regions", (event) => {
  heard = performance.now();
  badge.dataset.value = "live";
  const news = JSON.parse(event.data);
  for (const part of document.querySelectorAll("[data-region]")) {
    const html = news[/** @type {HTMLElement} */ (part).dataset.region ?? ""];
    if (html !== undefined) put(/** @type {HTMLElement} */ (part), html);
  }
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
