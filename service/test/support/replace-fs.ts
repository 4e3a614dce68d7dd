import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import type { MockFunctionContext, TestContext } from 'node:test';

type Call = (...values: never[]) => unknown;

/** Replaces a function of `fs` until the test ends, also for modules that import it by its name. */
export function replaceFs(t: TestContext, name: keyof typeof fs, by: Call): MockFunctionContext<Call> {
  const { mock } = t.mock.method(fs as unknown as Record<string, Call>, name, by);
  syncBuiltinESMExports();
  t.after(() => {
    mock.restore();
    syncBuiltinESMExports();
  });
  return mock;
}
