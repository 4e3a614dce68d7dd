// Reports the tests of `scripts/test.ts` as Node.js does by default, and then the files that took the most processor time.
import { Readable } from 'node:stream';
import { spec, type TestEvent } from 'node:test/reporters';

/** How many files are listed. */
const LISTED = 10;

/** What `runInTurn` reports for each file. */
const COST = /^(\d+) ms of processor time: (.*)$/;

export default async function* report(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const costs: { ms: number; file: string }[] = [];
  async function* otherEvents() {
    for await (const event of events) {
      const [, ms, file] = (event.type === 'test:diagnostic' && COST.exec(event.data.message)) || [];
      if (file === undefined) yield event;
      else costs.push({ ms: Number(ms), file });
    }
  }
  yield* Readable.from(otherEvents()).pipe(new spec());
  if (costs.length === 0) return;
  const sum = costs.reduce((sum, { ms }) => sum + ms, 0);
  yield `\nProcessor time, without the browser and the servers that all files share: ${seconds(sum)} s. Most of it:\n`;
  for (const { ms, file } of costs.toSorted((a, b) => b.ms - a.ms).slice(0, LISTED))
    yield `${seconds(ms)} s  ${file}\n`;
}

function seconds(ms: number): string {
  return (ms / 1_000).toFixed(1).padStart(6);
}
