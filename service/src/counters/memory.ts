import { DAY } from '../kit/clock.ts';
import { admit, type Decision, peek, unused, type WindowLimits, type WindowUse } from './fixed-windows.ts';

/** The use of every subject, in this process's memory. */
export class MemoryCounters {
  readonly #uses = new Map<string, WindowUse>();
  #day = 0;

  /** Decides a request of `subject` at `now`, in milliseconds since the Unix epoch, and counts it when admitted. */
  admit(subject: string, limits: WindowLimits, now: number): Decision {
    return admit(this.#useOf(subject, now), limits, now);
  }

  /** What the windows of `subject` say, with nothing counted. */
  peek(subject: string, limits: WindowLimits, now: number): Decision {
    return peek(this.#uses.get(subject) ?? unused(now), limits, now);
  }

  #useOf(subject: string, now: number): WindowUse {
    this.#forgetEndedDay(now);
    let use = this.#uses.get(subject);
    if (!use) {
      use = unused(now);
      this.#uses.set(subject, use);
    }
    return use;
  }

  /** When a day has ended nothing that was counted matters any more. */
  #forgetEndedDay(now: number): void {
    const day = Math.floor(now / DAY);
    if (day <= this.#day) return;
    this.#day = day;
    this.#uses.clear();
  }
}
