/** Counts turns of the event loop, and calls a function in each, until it is disposed of. */
export class TurnCounter implements Disposable {
  count = 0;
  readonly #onTurn: () => void;
  #next = setImmediate(() => this.#turn());

  constructor(onTurn = () => {}) {
    this.#onTurn = onTurn;
  }

  #turn(): void {
    this.count++;
    this.#onTurn();
    this.#next = setImmediate(() => this.#turn());
  }

  [Symbol.dispose](): void {
    clearImmediate(this.#next);
  }
}
