// What those hear who cannot see the page: what came of a turn, what the table waits for, the score; and questions at once.
// @ts-check

/** @typedef {{ texts: Record<string, string>, marks: Record<string, string> }} Board */

const APART_MS = 100; // a region that is emptied and filled at once says nothing where the words are the same

/** Say `text` in the live region `id`, also where it said the same before. */
function speak(/** @type {string} */ id, /** @type {string} */ text) {
  const region = document.getElementById(id);
  if (!region) return;
  region.textContent = "";
  setTimeout(() => (region.textContent = text), APART_MS);
}

/** Says what is new from one picture of the table to the next, each thing once. The first picture is there to be read. */
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
    const came = marks.moment !== before.marks.moment ? texts.outcome : "";
    const changed = ["sentence", "turn_worth", "note", "score"].map((key) => (texts[key] !== before.texts[key] ? texts[key] : ""));
    const told = [came, ...changed].filter(Boolean).map((one) => (/[.!?:]$/.test(one) ? one : `${one}.`));
    if (told.length) speak("news", told.join(" "));
    if (texts.question && texts.question !== before.texts.question) speak("asked", `${texts.question} ${texts.choices}`);
    else if (!texts.question && before.texts.question) speak("asked", "");
  }
}
