/**
 * Measures the target figures of the service, most of them as a ratio within one run, and writes them to `RESULTS.md` in this
 * directory. Linux only: CPU time and memory are read from /proc.
 */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { Finding } from './harness/findings.ts';
import { LoadGenerator } from './harness/load-generator.ts';
import { describeMachine } from './harness/machine.ts';
import type { Effort } from './harness/pairs.ts';
import type { Verdict } from './harness/targets.ts';
import { allocation } from './rows/allocation.ts';
import { batches } from './rows/batches.ts';
import { eventLogCost } from './rows/event-log-cost.ts';
import { groupCommit } from './rows/group-commit.ts';
import { limitDecision } from './rows/limit-decision.ts';
import { memoryUnderLoad } from './rows/memory-under-load.ts';
import { pageCost } from './rows/page-cost.ts';
import { expressStack, feathersStack } from './rows/peers.ts';
import { postgresPageCost } from './rows/postgres-page-cost.ts';
import { postgresSearch } from './rows/postgres-search.ts';
import { replicas } from './rows/replicas.ts';
import { scaledOut } from './rows/scaled-out.ts';
import { search } from './rows/search.ts';
import { startAndMemory } from './rows/start-and-memory.ts';
import { streamReaders } from './rows/stream-readers.ts';
import { traceCost } from './rows/trace-cost.ts';
import { versusBareHttp } from './rows/versus-bare-http.ts';
import { webhooks } from './rows/webhooks.ts';
import { worstRequest } from './rows/worst-request.ts';

const ROWS = [
  versusBareHttp,
  groupCommit,
  expressStack,
  feathersStack,
  allocation,
  limitDecision,
  pageCost,
  startAndMemory,
  memoryUnderLoad,
  eventLogCost,
  streamReaders,
  worstRequest,
  search,
  scaledOut,
  replicas,
  postgresPageCost,
  postgresSearch,
  traceCost,
  webhooks,
  batches,
];
const FULL: Effort = { pairs: 9, seconds: 2, warmUpSeconds: 3 };
const QUICK: Effort = { pairs: 3, seconds: 1.5, warmUpSeconds: 1 };

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
const findings: Finding[] = [];
for (const row of rows) {
  process.stderr.write(`${row.name} …\n`);
  try {
    const found = await row.measure(generator, effort);
    findings.push(...found);
    for (const finding of found) process.stdout.write(`${showFinding(finding)}\n`);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.stack : error}\n`);
    process.exitCode = 1;
  }
}

if (effort === FULL && rows === ROWS && process.exitCode !== 1) {
  writeFileSync(new URL('RESULTS.md', import.meta.url), showResults(showTable(findings)));
}

function showTable(findings: Finding[]): string {
  const head = ['what', 'target', 'measured: median (min–max)', 'absolute figures: medians', 'verdict'];
  return [showLine(head), showLine(head.map(() => '---')), ...findings.map(showFinding), ''].join('\n');
}

function showFinding({ what, target, measured, absolute, verdict }: Finding): string {
  return showLine([what, target, measured, absolute, showVerdict(verdict)]);
}

function showVerdict(verdict: Verdict | undefined): string {
  return verdict === 'missed' ? '**missed**' : (verdict ?? '–');
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
* The Express stack is \`yardsticks/express-stack.ts\`, Feathers \`peers/feathers-stack.js\`; bare \`node:http\` is \`yardsticks/bare-http.ts\`, and with the
  service's calls to PostgreSQL and Redis \`yardsticks/bare-backends.ts\`.
* PostgreSQL and Redis run on the same machine, and their CPU time is not counted. Commits of PostgreSQL are durable.
`;
}
