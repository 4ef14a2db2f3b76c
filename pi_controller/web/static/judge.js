// The judge's console: shows the table's state and sends commands. The page changes only after the table has accepted one.
// @ts-check
import { announceNews, readNews } from "./announce.js";
import { Clock, sounds } from "./judge_clock.js";
import { noteDrawn } from "./drawn.js";
import { dropImpossible, listen, sent } from "./judge_forms.js";
import { hits } from "./judge_hits.js";
import { announce, by, fill, make, minutes, say, set, words } from "./judge_page.js";
import { people } from "./judge_people.js";
import { Panel } from "./judge_play.js";
import { Sender } from "./judge_send.js";
import { draw, releaseIfGone } from "./regions.js";
import { ask, sentence } from "./request.js";
import { follow, mark } from "./stream.js";

const INERT_MS = 300; // after a change of the table: a touch within this time was meant for the old state
const VIBRATE_MS = 40; // confirms a command

function console_() {
  const settle = 1000 * Number(document.body.dataset.settle);
  const clock = new Clock();
  /** @type {any} */
  let state = null;
  let [lastContactMs, receivedMs, inertUntilMs, settledUntilMs] = [performance.now(), performance.now(), 0, 0];
  let [live, replacing, catching, stateOfPlay] = [true, false, false, by("sentence").textContent];

  const sender = new Sender(offer);
  const panel = new Panel(by("play"), press, mayPress);
  listen(press);
  hits();
  people();
  sounds();

  /** Return why no command can be sent now, or "". With `play` include reasons that stop only the game. */
  function off(play = true) {
    if (!live) return words.off_stale;
    if (sender.busy || catching) return words.off_sending;
    return play ? (state?.console.off ?? "") : "";
  }

  /** Return whether a touch on `from` counts; if not, show why. The hiders' button ends the wait after a settled turn. */
  function mayPress(/** @type {HTMLElement} */ from, on = true, play = true) {
    const next = by("play").contains(from) && !from.closest(".ready");
    const why = performance.now() < (next ? Math.max(inertUntilMs, settledUntilMs) : inertUntilMs) ? words.just_changed : off(play) || (on ? "" : words.off_rules);
    if (why) announce(why);
    if (why && from.closest("#dock")) say(by("why"), why);
    return !why;
  }

  /** @typedef {{ label: string, does: () => void }} Does */

  /** Show `message` with one or two buttons. */
  function toast(/** @type {(Node | string)[]} */ message, /** @type {string} */ value, label = words.close, does = closeToast, /** @type {Does | null} */ more_ = null) {
    by("toast-more").hidden = !more_;
    say(by("toast-more"), more_?.label ?? "");
    by("toast-more").onclick = () => more_?.does();
    by("toast-told").replaceChildren(...message);
    say(by("toast-do"), label);
    by("toast-do").onclick = does;
    by("toast").dataset.value = value;
  }

  function closeToast() {
    by("toast").dataset.value = "";
    by("toast-told").replaceChildren();
  }

  /** Send `call` for the state that is on the screen. */
  async function press(/** @type {any} */ call, /** @type {HTMLElement} */ from, expect = state.view.revision) {
    const game = ["action", "answer", "hidden", "hide_again"].includes(call.judge);
    if (!mayPress(from, true, game)) return;
    const before = Number(logLines()[0]?.dataset.seq ?? 0);
    from.dataset.busy = document.body.dataset.busy = "yes"; // the body too: an update may replace the button
    announce(words.sending);
    const outcome = await sender.send(call, expect);
    catching = true;
    if ((outcome?.revision ?? 0) > state.view.revision) await refetch(); // else the next touch would be for the old state
    catching = false;
    delete from.dataset.busy;
    delete document.body.dataset.busy;
    if (!outcome) return;
    replacing = false;
    if (outcome.ok) {
      closeToast();
      panel.forget();
      sent(from);
      announce(words.done);
      if (navigator.userActivation?.hasBeenActive) navigator.vibrate?.(VIBRATE_MS);
      if (call.judge === "ruling" && call.ruling === "upheld") offerConsequences();
      offer();
    } else if (outcome.gone) {
      toast([words.gave_up], "warn");
    } else if (outcome.error?.code === "signed_out") {
      location.reload();
    } else if (outcome.error?.code === "stale") {
      await refetch();
      const since = logLines().filter((line) => Number(line.dataset.seq) > before).map((line) => line.cloneNode(true));
      const lines = since.length ? since.reverse() : [make("li", {}, words.moved_nothing)];
      toast([make("p", {}, make("strong", {}, words.moved_on)), make("ul", {}, ...lines), make("p", {}, fill(words.now, { said: stateOfPlay }))], "warn");
    } else {
      const { code, message, hint = "" } = /** @type {import("./request.js").Refusal} */ (outcome.error);
      toast([make("strong", {}, sentence({ code, message })), hint && ` ${sentence({ code, message: hint })}`], "warn");
    }
  }

  /** After a protest was upheld, open the score sheet: its consequences are entered there. */
  function offerConsequences() {
    const { undo: taken } = state.console;
    const setting = () => {
      closeToast();
      by("set").setAttribute("open", "");
      by("set").scrollIntoView({ block: "start" });
      /** @type {HTMLElement} */ (by("set").querySelector("summary")).focus({ preventScroll: true });
    };
    const undoing = () => {
      closeToast();
      undo(by("undo"));
    };
    const undos = taken && state.me.role !== "committee" ? { label: `${words.undo}: ${taken}`, does: undoing } : null;
    const sets = by("set-inside").childElementCount ? { label: words.set, does: setting } : null;
    const first = sets ?? undos;
    if (first) toast([words.upheld_next], "warn", first.label, first.does, (sets && undos) ?? { label: words.close, does: closeToast });
  }

  function undo(/** @type {HTMLElement} */ from) {
    if (mayPress(from, on("undo"), false)) press({ judge: "undo" }, from);
  }

  /** Return the lines of the event log, the newest first. */
  const logLines = () => /** @type {HTMLElement[]} */ ([...by("log-inside").querySelectorAll("[data-seq]")]);

  /** Fetch the whole state at once. */
  async function refetch() {
    const now = await ask("/judge/state.json");
    if (!now.error) show(now);
  }

  /** Show a state of the table. */
  function show(/** @type {any} */ now) {
    if (state && state.view.revision !== now.view.revision) {
      const turned = JSON.stringify(state.view.sheet) !== JSON.stringify(now.view.sheet) && now.view.sheet.owed !== "second";
      inertUntilMs = performance.now() + INERT_MS;
      settledUntilMs = turned ? performance.now() + settle : 0;
      document.body.dataset.inert = "yes";
      const over = () => performance.now() < Math.max(inertUntilMs, settledUntilMs) || delete document.body.dataset.inert;
      setTimeout(over, Math.max(INERT_MS, turned ? settle : 0) + 1);
      replacing = false;
      panel.forget();
    }
    [state, receivedMs] = [now, performance.now()];
    draw(now.regions);
    const news = readNews();
    say(by("health"), now.health.board);
    say(by("me"), now.me.name);
    set(document.body, "data-role", now.me.role);
    stateOfPlay = news.lines[0];
    announceNews(news);
    dropImpossible();
    by("people").hidden = now.me.role !== "head";
    if (now.protest && !now.protest.play_on) /** @type {HTMLDetailsElement} */ (by("protest")).open = true;
    offer();
    tick();
    noteDrawn(now.view.seq);
  }

  /** Enable or disable the buttons by the commands that are possible now. */
  function offer() {
    if (!state) return;
    const { console: desk, view } = state;
    const asks = desk.question;
    const empty = { rows: [], ready: null, submit: null, more: [], values: null, effects: {} };
    replacing &&= Boolean(desk.again?.play);
    const play = replacing ? desk.again.play : asks ? { ...empty, shape: "question", title: asks.title, buttons: asks.buttons } : desk.play;
    panel.show(play, Boolean(off(!replacing)));
    const title = replacing ? fill(words.instead, { said: desk.undo }) : play.title;
    say(by("why"), off() || title);
    set(by("why"), "data-value", off() ? "off" : asks ? "asked" : "");
    by("to-ruling").hidden = !view.held || !state.rulings.length;
    const canUndo = Boolean(desk.undo) && live && !sender.busy && !catching;
    button("undo", [make("b", {}, words.undo), desk.undo ? make("span", {}, desk.undo) : ""], canUndo);
    button("again", [replacing ? words.cancel : (desk.again?.label ?? "")], canUndo && Boolean(desk.again));
    by("again").classList.toggle("none", !desk.again);
    button("hide-again", [words.hide_again], !off() && desk.can_hide_again);
    button("sensors", [view.sensors ? words.sensors_off : words.sensors_on], !off(false));
    button("clock-set", [view.paused === null ? words.stop_clock : words.start_clock], !off(false));
    markSections();
    if (sender.late) toast([words.not_sent], "late", words.give_up, () => sender.giveUp());
  }

  /** Disable the buttons of the sections while no command can be sent; a redrawn region has new ones. */
  function markSections() {
    for (const one of document.querySelectorAll(":is(.more, #teams) .act:not(#hits-inside *)")) {
      set(one, "aria-disabled", String(Boolean(off(Boolean(one.closest("#fouls"))))));
    }
  }

  function button(/** @type {string} */ id, /** @type {(Node | string)[]} */ inside, /** @type {boolean} */ on) {
    const made = make("button", {}, ...inside);
    if (by(id).innerHTML !== made.innerHTML) by(id).replaceChildren(...made.childNodes);
    set(by(id), "aria-disabled", String(!on));
  }

  const on = (/** @type {string} */ id) => by(id).getAttribute("aria-disabled") !== "true";
  by("undo").addEventListener("click", () => undo(by("undo")));
  by("again").addEventListener("click", () => {
    if (!mayPress(by("again"), on("again"), false)) return;
    const change = state.console.again;
    if (change.button) return press(change.button.say, by("again"));
    replacing = !replacing;
    panel.forget();
    offer();
    by("play").focus({ preventScroll: true });
  });
  by("to-ruling").addEventListener("click", () => {
    /** @type {HTMLFormElement[]} */ ([...by("protest-inside").querySelectorAll("form")]).forEach(releaseIfGone);
    by("protest").setAttribute("open", "");
    by("protest").scrollIntoView({ block: "start" });
    by("ruling-reason").focus({ preventScroll: true });
  });
  by("hide-again").addEventListener("click", () => mayPress(by("hide-again"), on("hide-again")) && press({ judge: "hide_again" }, by("hide-again")));
  by("sensors").addEventListener("click", () => press({ judge: "sensors", on: !state.view.sensors }, by("sensors")));
  by("clock-set").addEventListener("click", () => press({ judge: "clock", running: state.view.paused !== null }, by("clock-set")));
  by("sign-out").addEventListener("click", async () => {
    await ask("/judge/sign-out", {});
    location.replace("/judge");
  });

  // ---- keys

  const help = /** @type {HTMLDialogElement} */ (by("help"));
  const keys = /** @type {HTMLInputElement} */ (by("use-keys"));
  keys.checked = localStorage.getItem("judge-keys") !== "no";
  document.body.classList.toggle("no-keys", !keys.checked);
  keys.addEventListener("change", () => {
    localStorage.setItem("judge-keys", keys.checked ? "yes" : "no");
    document.body.classList.toggle("no-keys", !keys.checked);
  });
  by("help-open").addEventListener("click", () => help.showModal());
  addEventListener("keydown", (event) => {
    const typing = event.target instanceof Element && event.target.closest("input, textarea, select, dialog");
    if (typing || event.ctrlKey || event.altKey || event.metaKey || event.repeat || !keys.checked) return;
    const key = event.key.toLowerCase();
    if (key === "?") return help.showModal();
    if (key === "u") return by("undo").click();
    const named = by("play").querySelector(`[aria-keyshortcuts="${CSS.escape(key)}"]`);
    if (named) return /** @type {HTMLElement} */ (named).click();
    if (/^[1-9]$/.test(key)) {
      const buttons = by("play").querySelectorAll(".buttons .act:not([aria-keyshortcuts])");
      if (panel.play?.rows.length) panel.pickNext(Number(key) - 1);
      else /** @type {HTMLElement | undefined} */ (buttons[Number(key) - 1])?.click();
    }
  });

  // ---- the connection

  function onLive() {
    lastContactMs = performance.now();
    say(by("ago"), "");
    mark("live");
    say(by("as-of"), new Date().toTimeString().slice(0, 8));
    if (!live) {
      live = true;
      offer();
    }
    sender.now();
  }

  function onStale() {
    mark("stale");
    if (!live) return;
    live = false;
    announce(words.off_stale);
    offer();
  }

  function tick() {
    say(by("ago"), live ? "" : ` (${minutes((performance.now() - lastContactMs) / 1000)})`);
    if (state) clock.tick(state.view, state.now + (performance.now() - receivedMs) / 1000);
  }
  setInterval(tick, 250);
  document.addEventListener("drawn", markSections);
  const wide = matchMedia("(min-width: 68rem)");
  const unfold = () => ["fouls", "log"].forEach((id) => wide.matches && by(id).setAttribute("open", ""));
  wide.addEventListener("change", unfold);
  unfold();
  follow("/judge/events", { judge: (data) => show(JSON.parse(data)) }, { onLive, onStale });
}

console_();
