// Runs the samples of the portal against a service with a demo shop: every operation in every language for which this machine has a
// program, and the recipes of the guide in Python. It prints what ran, and fails when a sample fails. Takes a minute.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { parse } from 'yaml';
import { callOf, exampleValues } from '../service/src/portal/call.ts';
import { ContractView, type Operation } from '../service/src/portal/contract.ts';
import { sample } from '../web/portal/samples.js';

const root = dirname(import.meta.dirname);

/** The programs for each language, the file that they run, and a test whether this machine can run it. */
const runners: Record<string, { file: string; command: string[]; test: string[] }> = {
  curl: { file: 'sample.sh', command: ['sh', '-eu'], test: ['curl', '--version'] },
  javascript: { file: 'sample.mjs', command: [process.execPath], test: [process.execPath, '--version'] },
  python: { file: 'sample.py', command: ['python3'], test: ['python3', '-c', 'import requests'] },
  php: { file: 'sample.php', command: ['php'], test: ['php', '-r', 'curl_init();'] },
  go: { file: 'sample.go', command: ['go', 'run'], test: ['go', 'version'] },
};

/** Milliseconds after which a stream is stopped. */
const STREAM_TIME = 3000;

const directory = mkdtempSync(join(tmpdir(), 'petstore-samples-'));
const environment = {
  PATH: process.env.PATH,
  PORT: '0',
  PETSTORE_DRAIN_SECONDS: '0',
  PETSTORE_DATA: directory,
};
const service = spawn(process.execPath, [join(root, 'service/src/main.ts'), 'serve', '--demo'], {
  env: environment,
  stdio: ['ignore', 'ignore', 'pipe'],
});
const failures: string[] = [];
try {
  const base = await addressOfService();
  const key = readFileSync(join(directory, 'admin.key'), 'utf8').trim();
  const view = new ContractView(parse(readFileSync(join(root, 'openapi.yaml'), 'utf8')));
  for (const [language, { file, command, test }] of Object.entries(runners)) {
    const [program = '', ...args] = test;
    if (spawnSync(program, args).status !== 0) {
      process.stdout.write(`${language}: not run, because this fails here: ${test.join(' ')}\n`);
      continue;
    }
    for (const operation of view.operations) {
      const code = sample(language, callOf(view, operation), exampleValues(operation), base);
      run(`${language} ${operation.id}`, file, command, code, isStream(operation), { key, base });
    }
    process.stdout.write(`${language}: ${view.operations.length} samples\n`);
  }
  const guide = readFileSync(join(root, 'docs/api-guide.md'), 'utf8');
  const recipes = [...guide.matchAll(/^```python\n(.*?)^```$/gms)].map(([, code = '']) => code);
  const { file, command } = runners.python!;
  for (const [i, code] of recipes.entries())
    run(`python recipe ${i + 1}`, file, command, code, code.includes('/events/stream'), { key, base });
  process.stdout.write(`python: ${recipes.length} recipes\n`);
} finally {
  service.kill('SIGTERM');
  rmSync(directory, { recursive: true });
}
for (const failure of failures) process.stderr.write(`${failure}\n`);
process.exitCode = failures.length > 0 ? 1 : 0;

/** Runs a sample. A sample works if its program ends without an error and has printed a response, whatever its status. */
function run(
  name: string,
  file: string,
  [program = '', ...args]: string[],
  code: string,
  endless: boolean,
  { key, base }: { key: string; base: string },
): void {
  const path = join(directory, file);
  writeFileSync(path, code);
  const { status, stdout, stderr } = spawnSync(program, [...args, path], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH, HOME: process.env.HOME, KEY: key, SHOP: base },
    timeout: endless ? STREAM_TIME : 60_000,
  });
  const works = endless ? stdout !== '' : status === 0;
  // The contract contains such errors as examples.
  const isRejected =
    /^[^\n]*\{\s*['"]?code['"]?: ?['"](missing_api_key|invalid_api_key|invalid_request)/.test(stdout);
  // A machine without a name server rejects the URL of every webhook.
  if (
    !works ||
    (isRejected && !name.includes('getContract') && !stdout.includes('host that can be resolved'))
  )
    failures.push(`${name} failed: ${stderr || stdout}`);
}

function isStream({ responses }: Operation): boolean {
  return responses.some(({ type }) => type === 'text/event-stream');
}

async function addressOfService(): Promise<string> {
  for await (const line of createInterface({ input: service.stderr })) {
    const [address] = /http:\/\/127\.0\.0\.1:\d+/.exec(line) ?? [];
    if (address) return address;
  }
  throw new Error('The service did not start');
}
