// Announcements for screen readers: the result of a turn, the state of play, the score; and questions at once.
// @ts-check

/** @typedef {{ moment: string, outcome: string, lines: string[], question: string }} Spoken */
/** @typedef {Spoken & { phase: string, title: string, calls: number }} News */

const APART_MS = 100; // a live region that is cleared and refilled at once with the same text is not announced

/** The text that each live region will have in a moment. @type {Map<string, ReturnType<typeof setTimeout>>} */
const filling = new Map();

/** Announce `text` in the live region `id`, even if it is the same as before; "" empties it. */
export function speak(/** @type {string} */ id, /** @type {string} */ text) {
  const region = document.getElementById(id);
  if (!region) return;
  clearTimeout(filling.get(id));
  region.textContent = "";
  if (text) filling.set(id, setTimeout(() => (region.textContent = text), APART_MS));
}

/** Return what is to be announced of the page's regions.
 * @returns {News} */
export const readNews = () => JSON.parse(/** @type {HTMLElement} */ (document.querySelector("[data-news]")).dataset.news ?? "");

/** @type {Spoken | null} */
let before = null;

/** Announce each change from one state of the table to the next once. The first state is not announced: it can be read. */
export function announceNews(/** @type {Spoken} */ news) {
  const last = before;
  before = news;
  if (!last) return;
  const { outcome } = news;
  const known = last.outcome.length > outcome.length && last.outcome.endsWith(outcome); // the hits of a hide that is over go
  const came = news.moment !== last.moment && !known ? outcome : "";
  const changed = news.lines.filter((line, n) => line !== last.lines[n]);
  const told = [came, ...changed].filter(Boolean).map((one) => (/[.!?:]$/.test(one) ? one : `${one}.`));
  if (told.length) speak("news", told.join(" "));
  if (news.question !== last.question) speak("asked", news.question);
}
