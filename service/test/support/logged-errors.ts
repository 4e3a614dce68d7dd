import { assertNone } from './values.ts';

/** Lines of the log with the level `error` or `fatal`. */
const ERROR = /^\{"level":[56]0,/;

/** The errors in the log of a service. */
export class LoggedErrors {
  readonly #expected: RegExp[] = [];

  /** Allows errors whose lines match. */
  expect(pattern: RegExp): void {
    this.#expected.push(pattern);
  }

  /** Fails with all other errors: the service continues after most of them, and a test would not notice them. */
  assertNoOthers(lines: readonly string[]): void {
    assertNone(lines, line => ERROR.test(line) && !this.#expected.some(pattern => pattern.test(line)));
  }
}
