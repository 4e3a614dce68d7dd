import type { TestContext } from 'node:test';

/** Replaces a delay of timers by another one, both in milliseconds. */
export function replaceDelay(t: TestContext, replaced: number, by: number): void {
  const { setTimeout } = globalThis;
  t.mock.method(globalThis, 'setTimeout', (run: () => void, delay: number) =>
    setTimeout(run, delay === replaced ? by : delay),
  );
}
