/** Counts turns of the event loop, until it is disposed of. */
export class TurnCounter implements Disposable {
  count = 0;
  #next = setImmediate(() => this.#turn());

  #turn(): void {
    this.count++;
    this.#next = setImmediate(() => this.#turn());
  }

  [Symbol.dispose](): void {
    clearImmediate(this.#next);
  }
}
