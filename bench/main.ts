/**
 * Measures the target figures of the service, most of them as a ratio within one run, and writes them to `RESULTS.md` in this
 * directory. Linux only: CPU time and memory are read from /proc.
 */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { Bench, Effort, Row } from './harness/bench.ts';
import type { Finding } from './harness/findings.ts';
import { LoadGenerator } from './harness/load-generator.ts';
import { describeMachine } from './harness/machine.ts';
import { allocation } from './rows/allocation.ts';
import { batches } from './rows/batches.ts';
import { limitDecision, warningCost } from './rows/decisions.ts';
import { historyCost } from './rows/history-cost.ts';
import { memoryUnderLoad } from './rows/memory-under-load.ts';
import { pageCost, postgresPageCost } from './rows/page-cost.ts';
import { postgresSearch, search } from './rows/search.ts';
import { startAndMemory } from './rows/start-and-memory.ts';
import {
  eventLogCost,
  expressStack,
  groupCommit,
  oldValuesCost,
  postgresGroups,
  scaledOut,
  sealCost,
  traceCost,
  versusBareHttp,
} from './rows/throughput.ts';
import { webhooks } from './rows/webhooks.ts';
import { worstRequest } from './rows/worst-request.ts';
import { FilledStores } from './stores/filled-stores.ts';

const ROWS: readonly Row[] = [
  versusBareHttp,
  groupCommit,
  postgresGroups,
  expressStack,
  allocation,
  limitDecision,
  warningCost,
  pageCost,
  startAndMemory,
  memoryUnderLoad,
  eventLogCost,
  sealCost,
  oldValuesCost,
  historyCost,
  worstRequest,
  search,
  scaledOut,
  postgresPageCost,
  postgresSearch,
  traceCost,
  webhooks,
  batches,
];
const FULL: Effort = { pairs: 9, seconds: 1, warmUpSeconds: 1.5 };
const QUICK: Effort = { pairs: 3, seconds: 0.5, warmUpSeconds: 0.5 };

const USAGE = `Usage: npm run bench -- [--quick] [--only <row>]...

Only a run of all rows without --quick writes RESULTS.md.

  --quick  ${QUICK.pairs} pairs of ${QUICK.seconds} s instead of ${FULL.pairs} of ${FULL.seconds} s
  --only   measures only the given rows:
           ${ROWS.map(row => row.name).join(', ')}
`;

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true, default: [] },
    help: { type: 'boolean', default: false },
  },
});
const unknown = options.only.filter(name => !ROWS.some(row => row.name === name));
if (options.help || unknown.length > 0) {
  process.stdout.write(USAGE);
  process.exit(options.help ? 0 : 2);
}

const effort = options.quick ? QUICK : FULL;
const rows = options.only.length === 0 ? ROWS : ROWS.filter(row => options.only.includes(row.name));
using generator = new LoadGenerator();
await using stores = new FilledStores();
const bench: Bench = { generator, effort, stores };
const findings: Finding[] = [];
for (const row of rows) {
  process.stderr.write(`${row.name} …\n`);
  const started = performance.now();
  try {
    const found = await row.measure(bench);
    findings.push(...found);
    for (const finding of found) process.stdout.write(`${showFinding(finding)}\n`);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.stack : error}\n`);
    process.exitCode = 1;
  }
  process.stderr.write(`${row.name}: ${Math.round((performance.now() - started) / 1000)} s\n`);
}

if (effort === FULL && rows === ROWS && process.exitCode !== 1) {
  writeFileSync(new URL('RESULTS.md', import.meta.url), showResults(showTable(findings)));
}

function showTable(findings: Finding[]): string {
  const head = ['what', 'target', 'measured: median (min–max)', 'absolute figures: medians', 'verdict'];
  return [showLine(head), showLine(head.map(() => '---')), ...findings.map(showFinding), ''].join('\n');
}

function showFinding({ what, target, measured, absolute, verdict }: Finding): string {
  return showLine([what, target, measured, absolute, verdict]);
}

function showLine(cells: string[]): string {
  return `| ${cells.join(' | ')} |`;
}

function showResults(table: string): string {
  return `# Measurements

\`npm run bench\` on ${new Date().toISOString().slice(0, 10)}: ${effort.pairs} pairs of ${effort.seconds} s each. A and B alternate, and the ratio
is computed for each pair. ${describeMachine()}

${table}
* Server and load generator are separate processes. The log of a server goes to the null device.
* *By CPU* is the same ratio in requests per second of the server's CPU time. It differs from the ratio of throughput if the
  bottleneck is not the server's CPU but the disk or the generator.
* The Express stack is \`yardsticks/express-stack.ts\`; bare \`node:http\` is \`yardsticks/bare-http.ts\`, and with the
  service's calls to PostgreSQL and Redis \`yardsticks/bare-backends.ts\`.
* PostgreSQL and Redis run on the same machine, and their CPU time is not counted. Commits of PostgreSQL are durable.
`;
}
