// Sends commands: each has an idempotency key and is resent until there is an answer, so it counts once.
// @ts-check
import { ask, freshKey } from "./request.js";

const AGAIN_MS = 1_000;
const MOST_MS = 5_000;
const LATER = new Set(["away", "busy", "waiting", "slow"]); // the table may not have accepted the command

/** @typedef {{ ok: boolean, revision?: number, error?: import("./request.js").Refusal, gone?: boolean }} Outcome */

/** Sends one command at a time. `changed` is called whenever `late` or `busy` may have changed. */
export class Sender {
  constructor(/** @type {() => void} */ changed) {
    this.busy = false;
    this.late = false;
    this.changed = changed;
    this.wake = () => {};
    this.stop = false;
  }

  /** Send `call`, made for the revision `expect`, until there is an answer; null if another one is being sent. */
  async send(/** @type {object} */ call, /** @type {number} */ expect) {
    if (this.busy) return null;
    const command = { key: freshKey(), expect, call };
    Object.assign(this, { busy: true, late: false, stop: false });
    this.changed();
    try {
      for (let pause = AGAIN_MS; ; pause = Math.min(MOST_MS, 2 * pause)) {
        const outcome = await this.once(command);
        if (outcome) return outcome;
        if (this.stop) return /** @type {Outcome} */ ({ ok: false, gone: true });
        this.late = true;
        this.changed();
        await new Promise((done) => {
          const timer = setTimeout(done, pause);
          this.wake = () => {
            clearTimeout(timer);
            done(undefined);
          };
        });
        if (this.stop) return /** @type {Outcome} */ ({ ok: false, gone: true });
      }
    } finally {
      Object.assign(this, { busy: false, late: false });
      this.changed();
    }
  }

  /** Send once; null if the result is not known. */
  async once(/** @type {object} */ command) {
    const { error, revision } = await ask("/judge/command", command);
    return error && LATER.has(error.code) ? null : /** @type {Outcome} */ ({ ok: !error, revision, error });
  }

  /** Resend at once: the connection is back. */
  now() {
    this.wake();
  }

  /** Stop sending. */
  giveUp() {
    this.stop = true;
    this.wake();
  }
}
