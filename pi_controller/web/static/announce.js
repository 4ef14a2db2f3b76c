// Announcements for screen readers: the result of a turn, the state of play, the score; and questions at once.
// @ts-check

/** @typedef {{ texts: Record<string, string>, marks: Record<string, string> }} Board */

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

/** Announces each change from one state of the table to the next once. The first state is not announced: it can be read. */
export class News {
  constructor() {
    /** @type {Board | null} */
    this.before = null;
  }

  tell(/** @type {Board} */ board) {
    const before = this.before;
    this.before = board;
    if (!before) return;
    const { texts, marks } = board;
    const [last, outcome] = [before.texts.outcome ?? "", texts.outcome ?? ""]; // the stream's overlay has none
    const known = last.length > outcome.length && last.endsWith(outcome); // the hits of a hide that is over go
    const came = marks.moment !== before.marks.moment && !known ? outcome : "";
    const changed = ["sentence", "turn_worth", "note", "score"].map((key) => (texts[key] !== before.texts[key] ? texts[key] : ""));
    const told = [came, ...changed].filter(Boolean).map((one) => (/[.!?:]$/.test(one) ? one : `${one}.`));
    if (told.length) speak("news", told.join(" "));
    if (texts.question && texts.question !== before.texts.question) speak("asked", `${texts.question} ${texts.choices}`);
    else if (!texts.question && before.texts.question) speak("asked", "");
  }
}
