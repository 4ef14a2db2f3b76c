// Keeps a page of the hub current: each event brings the parts that have changed, as they are to be shown.
// @ts-check

const SILENT_MS = 25_000; // two beats and some
const badge = /** @type {HTMLElement} */ (document.getElementById("badge"));
let heard = performance.now();

/** What each part is to show: where somebody is typing it waits.
 * @type {Map<HTMLElement, string>} */
const newest = new Map();

/** Return what tells a folded part from others: its words, without numbers. */
const named = (/** @type {HTMLDetailsElement} */ one) => one.querySelector("summary")?.textContent?.replace(/\d+/g, "");

/** Return whether somebody has changed a field since it was shown. */
function changed(/** @type {HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement} */ one) {
  if (one instanceof HTMLSelectElement) return false;
  return one.type === "checkbox" && one instanceof HTMLInputElement ? one.checked !== one.defaultChecked : one.value !== one.defaultValue;
}

/** Return what tells a field or button of a part from its others, also after the part was shown anew. */
function key(/** @type {Element | null} */ one) {
  const form = /** @type {HTMLElement | null} */ (one?.closest("form") ?? null);
  return JSON.stringify([one?.getAttribute("name"), form?.dataset, one instanceof HTMLButtonElement && [one.dataset, one.textContent]]);
}

/** Put `html` into a part, unless somebody is typing or choosing there; the one who is at a field or button stays at it. */
function put(/** @type {HTMLElement} */ part, /** @type {string} */ html) {
  const fields = /** @type {NodeListOf<HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement>} */ (part.querySelectorAll("input, select, textarea"));
  const at = part.contains(document.activeElement) ? document.activeElement : null;
  const busy = at instanceof HTMLSelectElement || [...fields].some(changed);
  if (part.dataset.html === html || busy || part.querySelector("[data-asked]")) return; // a button asks to be touched again
  const open = new Map([...part.querySelectorAll("details")].map((one) => [named(one), one.open]));
  part.innerHTML = part.dataset.html = html; // the server has escaped every text in it
  part.querySelectorAll("details").forEach((one) => (one.open = open.get(named(one)) ?? one.open));
  if (at) /** @type {HTMLElement | undefined} */ ([...part.querySelectorAll("input, textarea, button")].find((one) => key(one) === key(at)))?.focus({ preventScroll: true });
  tick();
}

let ahead = 0; // ms that the hub's clock is before this one

/** Show what is left of each time that runs. */
function tick() {
  for (const one of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-ends]"))) {
    const left = Math.max(0, Math.ceil(Number(one.dataset.ends) - (Date.now() + ahead) / 1000));
    one.textContent = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`;
    one.dataset.over = left ? "" : "yes";
  }
}

const stream = new EventSource(document.body.dataset.events ?? "/events");
stream.addEventListener("regions", (event) => {
  heard = performance.now();
  badge.dataset.value = "live";
  const news = JSON.parse(event.data);
  for (const part of document.querySelectorAll("[data-region]")) {
    const html = news[/** @type {HTMLElement} */ (part).dataset.region ?? ""];
    if (html === undefined) continue;
    newest.set(/** @type {HTMLElement} */ (part), html);
    put(/** @type {HTMLElement} */ (part), html);
  }
});
stream.addEventListener("now", (event) => {
  ahead = Number(event.data) * 1000 - Date.now();
  tick();
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
  newest.forEach((html, part) => put(part, html));
  tick();
}, 500);
