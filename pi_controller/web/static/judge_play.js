// The play panel: buttons and rows in fixed places, redrawn only if they differ.
// @ts-check
import { announce, fill, make, say, set, words } from "./judge_page.js";

/**
 * @typedef {{ id: string, label: string, say: any, look: string, key: string, on: boolean, confirm: string, effect: string }} Button
 * @typedef {{ value: any, label: string, said: string, look: string, on: boolean }} Choice
 * @typedef {{ key: string, label: string, choices: Choice[], many: number, needed: boolean }} Row
 * @typedef {{ shape: string, title: string, buttons: Button[], rows: Row[], ready: Button | null,
 *   submit: Button | null, more: Button[], values: Record<string, number> | null, effects: Record<string, string> }} Play
 */

/** @type {Record<string, string>} */
const ARROWS = { left: "←", right: "→", inside: "→←", outside: "←→" };
/** What left or right of the holder at the guesser's left, and of the one at the right, make together.
 * @type {Record<string, Record<string, string>>} */
const BLOCKED = { left: { left: "left", right: "outside" }, right: { left: "inside", right: "right" } };

/** The row for a throw without visible pieces. */
const NONE = "none";
const pieces = (/** @type {Play} */ play) => play.rows.filter((row) => row.key !== NONE);

/** Return the name of an action by which the server tells its consequence (consequences.py).
 * @returns {string[]} */
const parts = (/** @type {object} */ action) =>
  Object.entries(action).flatMap(([key, value]) => (value?.constructor === Object ? parts(value) : [`${key}=${value}`]));
const keyOf = (/** @type {object} */ action) => parts(action).sort().join(" ");

const SURE_MS = 600; // an earlier second touch belongs to the first (double tap)

export class Panel {
  /** `press` is called with what a button says; `asked` before it, and may refuse. */
  constructor(
    /** @type {HTMLElement} */ place,
    /** @type {(say: any, from: HTMLElement) => void} */ press,
    /** @type {(from: HTMLElement, on: boolean) => boolean} */ asked,
  ) {
    this.place = place;
    this.press = press;
    this.asked = asked;
    this.drawn = "";
    /** @type {Map<string, any[]>} */
    this.picked = new Map();
    /** The first of the two guesses of a block, entered already.
     * @type {{ signal: string, actual: string } | null} */
    this.first = null;
    /** @type {Play | null} */
    this.play = null;
    this.off = false;
    /** The button that waits for a confirming second touch. */
    this.sure = "";
    this.sureFrom = 0;
  }

  /** Clear the choices that were not entered. */
  forget() {
    this.picked.clear();
    this.first = null;
    this.sure = "";
  }

  show(/** @type {Play} */ play, /** @type {boolean} */ off) {
    this.play = play;
    this.off = off;
    const all = [play.ready, ...play.buttons, play.submit, ...play.more].map((one) => one?.id);
    const drawn = JSON.stringify([play.shape, all, play.rows.map((row) => [row.key, row.choices.length])]);
    if (drawn !== this.drawn) {
      this.drawn = drawn;
      this.forget();
      this.draw(play);
    }
    this.refresh();
  }

  draw(/** @type {Play} */ play) {
    const focused = this.place.contains(document.activeElement);
    this.place.dataset.shape = play.shape;
    const rows = play.rows.map((row) => this.row(row));
    const buttons = make("div", { class: "buttons" }, ...play.buttons.map((one) => this.button(one)));
    const ready = play.ready ? [this.button(play.ready, "ready")] : [];
    const submit = play.submit && play.shape !== "guess" ? [make("p", { class: "shows" }), this.button(play.submit)] : [];
    const more = play.more.length && play.shape !== "guess" ? [make("div", { class: "seldom" }, ...play.more.map((one) => this.button(one)))] : [];
    this.place.replaceChildren(...ready, make("div", { class: "rows" }, ...rows), ...(play.buttons.length ? [buttons] : []), ...submit, ...more);
    if (focused) this.place.focus({ preventScroll: true });
  }

  button(/** @type {Button} */ one, place = "") {
    const shape = one.look === "a" || one.look === "b" ? [make("span", { class: "shape", "aria-hidden": "true" }, one.look.toUpperCase())] : [];
    const key = one.key ? [make("kbd", { "aria-hidden": "true" }, one.key.toUpperCase())] : [];
    const element = make("button", { type: "button", class: `act ${one.look} ${place}`.trim(), "data-id": one.id }, ...shape, make("span", { class: "does" }, make("span", { class: "label" }), make("span", { class: "effect" })), ...key);
    if (one.key) element.setAttribute("aria-keyshortcuts", one.key);
    element.addEventListener("click", () => this.touched(one.id, element));
    return element;
  }

  row(/** @type {Row} */ row) {
    const id = `row-${row.key}`;
    const group = make("div", { role: "group", class: "row-of", "data-row": row.key, "aria-labelledby": id });
    group.append(make("p", { class: row.label ? "row-label" : "unseen", id }, row.label || row.choices[0].label));
    const places = make("div", { class: "places" });
    for (const [i, choice] of row.choices.entries()) {
      const picture = ARROWS[choice.look];
      const element = make("button", { type: "button", class: `pick ${choice.look}`.trim(), "data-value": String(i) });
      if (picture) element.append(make("span", { class: "picture", "aria-hidden": "true" }, picture));
      element.append(make("span", { class: "label" }, choice.label));
      if (choice.said && choice.said !== choice.label) element.setAttribute("aria-label", choice.said);
      element.append(make("span", { class: "order", "aria-hidden": "true" }), make("span", { class: "effect" }));
      element.addEventListener("click", () => this.pick(row.key, i, element));
      places.append(element);
    }
    group.append(places);
    return group;
  }

  /** Handle a touch on a choice: select it, deselect it, or replace another one. */
  pick(/** @type {string} */ key, /** @type {number} */ i, /** @type {HTMLElement} */ from) {
    const row = this.play?.rows.find((one) => one.key === key);
    if (!row || !this.asked(from, this.on(row, i))) return;
    const before = this.picked.get(key) ?? [];
    if (before.includes(i)) this.picked.set(key, before.filter((one) => one !== i));
    else if (row.many === 1) this.picked.set(key, [i]);
    else if (before.length < row.many) this.picked.set(key, [...before, i]);
    else this.picked.set(key, [...before.slice(1), i]);
    if (key === "block") this.begin();
    if (key === NONE) pieces(/** @type {Play} */ (this.play)).forEach((one) => this.picked.delete(one.key));
    else this.picked.delete(NONE);
    this.refresh();
    const guess = this.play?.shape === "guess" && this.play.submit;
    if (!guess || !this.play?.rows.every((one) => !one.needed || this.picked.get(one.key)?.length)) return;
    const [[block], [signal], [actual]] = [this.values("block"), this.values("signal"), this.values("actual")];
    if (!block || this.first) return this.touched(guess.id, from);
    this.begin({ signal, actual });
    this.refresh();
    announce(words.block_second);
  }

  /** Begin a guess, the second one of a block with the `first`. */
  begin(/** @type {{ signal: string, actual: string } | null} */ first = null) {
    this.first = first;
    this.picked.delete("signal");
    this.picked.delete("actual");
  }

  /** Return whether a choice is enabled: a guess of a block is for one holder, left or right. */
  on(/** @type {Row} */ row, /** @type {number} */ i) {
    const { value, on } = row.choices[i];
    return on && !(this.values("block")[0] && ["inside", "outside"].includes(value));
  }

  /** Select choice `i` of the first row that still needs one. */
  pickNext(/** @type {number} */ i) {
    const rows = this.play?.rows ?? [];
    const one = this.play?.shape === "pieces" ? null : rows.find((row) => row.key !== "opened" && row.choices.length > 1 && !this.picked.get(row.key)?.length) ?? rows.at(-1);
    if (one && i < one.choices.length) this.touch(one.key, i);
    if (this.play?.shape !== "pieces") return;
    for (const row of rows) {
      if (i < row.choices.length) return this.touch(row.key, i);
      i -= row.choices.length;
    }
  }

  touch(/** @type {string} */ key, /** @type {number} */ i) {
    /** @type {HTMLElement | null} */ (this.place.querySelector(`[data-row=${key}] [data-value="${i}"]`))?.click();
  }

  values(/** @type {string} */ key) {
    const row = this.play?.rows.find((one) => one.key === key);
    return (this.picked.get(key) ?? []).map((i) => row?.choices[i].value);
  }

  touched(/** @type {string} */ id, /** @type {HTMLElement} */ from) {
    const play = this.play;
    const one = [play?.ready, play?.submit, ...(play?.buttons ?? []), ...(play?.more ?? [])].find((one) => one?.id === id);
    if (!play || !one || !this.asked(from, one.on)) return;
    const sure = this.sure === one.id;
    if (sure && performance.now() < this.sureFrom) return;
    this.sure = one.confirm && !sure ? one.id : "";
    if (this.sure) {
      this.sureFrom = performance.now() + SURE_MS;
      announce(one.confirm);
      return this.refresh();
    }
    if (one !== play.submit && play.shape !== "hits") return this.press(one.say, from);
    const told = this.told(play, one);
    if (!told) return announce(play.shape === "pieces" ? words.touch_first : words.touch_all);
    this.press(told, from);
  }

  /** Return the call with the selected choices, null while one is missing. */
  told(/** @type {Play} */ play, /** @type {Button} */ one) {
    const action = one.say.action;
    if (!action) return one.say;
    const with_ = (/** @type {object} */ more) => ({ ...one.say, action: { ...action, ...more } });
    switch (play.shape) {
      case "hits": {
        const [pad] = this.values("pad");
        return pad === undefined ? one.say : with_({ pad });
      }
      case "shoot": {
        const [opened, [hit], [ball]] = [this.values("opened"), this.values("hit"), this.values("ball")];
        const onto = ball !== undefined && opened.at(-1) === ball;
        return ball === undefined || (hit === undefined && !onto) ? null : with_({ opened, hit: onto ? null : hit, ball });
      }
      case "guess": {
        const [[signal], [actual]] = [this.values("signal"), this.values("actual")];
        if (signal === undefined || actual === undefined) return null;
        const marked = Object.fromEntries(["block", "mirror"].filter((key) => this.values(key)[0]).map((key) => [key, true]));
        if (!marked.block) return with_({ signal, actual, ...marked });
        const { first } = this;
        return first && with_({ signal: BLOCKED[first.signal][signal], actual: BLOCKED[first.actual][actual], ...marked });
      }
      default: {
        if (!play.rows.some((row) => this.values(row.key).length)) return null;
        const counts = Object.fromEntries(pieces(play).map((row) => [row.key, this.values(row.key).length]));
        return with_("woman" in counts ? { red: counts } : counts);
      }
    }
  }

  /** Update texts, marks and selections without moving anything. */
  refresh() {
    const play = this.play;
    if (!play) return;
    for (const one of [play.ready, play.submit, ...play.buttons, ...play.more]) {
      const element = one && this.place.querySelector(`[data-id="${one.id}"]`);
      if (!one || !element) continue;
      say(/** @type {Element} */ (element.querySelector(".label")), this.sure === one.id ? one.confirm : one.label);
      say(/** @type {Element} */ (element.querySelector(".effect")), this.sure === one.id ? "" : this.effect(play, one));
      element.classList.toggle("sure", this.sure === one.id);
      set(element, "aria-disabled", String(this.off || !one.on || (one === play.submit && !this.told(play, one))));
    }
    for (const row of play.rows) {
      const picked = this.picked.get(row.key) ?? [];
      for (const i of row.choices.keys()) {
        const element = this.place.querySelector(`[data-row=${row.key}] [data-value="${i}"]`);
        if (!element) continue;
        set(element, "aria-pressed", String(picked.includes(i)));
        set(element, "aria-disabled", String(this.off || !this.on(row, i)));
        const nth = row.key === "opened" ? picked.indexOf(i) + 1 : row.key === "block" && picked.length && (this.first ? 2 : 1);
        const order = nth ? `${nth}.` : "";
        say(/** @type {Element} */ (element.querySelector(".order")), order);
        say(/** @type {Element} */ (element.querySelector(".effect")), row.key === "actual" ? this.foreseen(play, row.choices[i].value) : "");
      }
    }
    const shows = this.place.querySelector(".shows");
    if (shows) say(shows, play.shape === "shoot" ? this.shot() : this.thrown(play));
  }

  /** Return the consequence of a button by the rules; that of a form as it is filled in. */
  effect(/** @type {Play} */ play, /** @type {Button} */ one) {
    if (one !== play.submit) return one.effect ?? "";
    const told = this.told(play, one);
    return told ? (play.effects?.[keyOf(told.action)] ?? "") : "";
  }

  /** Return the consequence of the choice that would enter a guess at once. */
  foreseen(/** @type {Play} */ play, /** @type {any} */ actual) {
    const [signal] = this.values("signal");
    if (signal === undefined || !play.submit) return "";
    const marked = Object.fromEntries(["block", "mirror"].filter((key) => this.values(key)[0]).map((key) => [key, true]));
    const { first } = this;
    if (marked.block && !first) return "";
    const guess = marked.block && first ? { signal: BLOCKED[first.signal][signal], actual: BLOCKED[first.actual][actual] } : { signal, actual };
    return play.effects?.[keyOf({ ...play.submit.say.action, ...guess, ...marked })] ?? "";
  }

  shot() {
    const [opened, [hit], [ball]] = [this.values("opened"), this.values("hit"), this.values("ball")];
    const told = [
      opened.length ? fill(words.opened, { pads: opened.join(", ") }) : "",
      hit === undefined ? "" : fill(words.struck, { pad: hit }),
      ball === undefined ? "" : fill(words.ball, { pad: ball }),
    ];
    return told.filter(Boolean).join(", ") || words.touch_all;
  }

  thrown(/** @type {Play} */ play) {
    if (!this.told(play, /** @type {Button} */ (play.submit))) return words.touch_first;
    const rows = pieces(play);
    const counts = rows.map((row) => this.values(row.key).length);
    const told = rows.flatMap((row, i) => (counts[i] ? [`${counts[i]} ${row.choices[0].label}`] : []));
    const shows = fill(words.shows, { told: told.join(", ") || words.nothing_red });
    return play.values ? `${shows} – ${fill(words.worth, { value: play.values[counts.join("")] ?? 0 })}` : shows;
  }
}
