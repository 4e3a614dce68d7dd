// Compares the client with others: node_modules/.bin/node scripts/client-figures.ts
// Each client gets a key with 50 requests a minute and does 150 jobs with 30 workers, in a process of its own, at the same time as the
// others. The service is killed once, and starts again. It takes up to ten minutes and downloads the other clients once.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { PetStore } from '../sdk/src/index.ts';
import { installClient } from '../service/test/support/packed-client.ts';
import { downloaded } from './downloaded.ts';
import { Replica } from './servers/replica.ts';

const JOBS = 150;
const WORKERS = 30;
const PER_MINUTE = 50;
const MINUTE = 60_000;
/** After this time a client is stopped, and the rest of its jobs is lost. */
const LONGEST = 10 * MINUTE;

const rivals = {
  ky: 'ky@2.1.0',
  got: 'got@16.1.0',
  axios: 'axios@1.21.1',
  'axios-retry': 'axios-retry@4.5.0',
  undici: 'undici@8.13.1',
  openai: 'openai@7.57.0',
  stripe: 'stripe@23.1.0',
};

/** Each client may repeat a request five times, and obeys the headers that it knows. A job is to read a page with one pet. */
const PROGRAM = `
const { BASE, KEY, JOBS, WORKERS } = process.env;
const url = BASE + '/pets?limit=1';
const headers = { 'x-api-key': KEY };
const clients = {
  async '@petstore/client'() {
    const { PetStore } = await import('@petstore/client');
    const store = new PetStore({ baseUrl: BASE, apiKey: KEY });
    return async () => (await store.pets.list({ limit: 1 })).items;
  },
  async ky() {
    const { default: ky } = await import('ky');
    return () => ky(url, { headers, retry: { limit: 5 } }).json();
  },
  async got() {
    const { default: got } = await import('got');
    return () => got(url, { headers, retry: { limit: 5 } }).json();
  },
  async 'axios-retry'() {
    const [{ default: axios }, { default: axiosRetry, exponentialDelay, isNetworkOrIdempotentRequestError }] =
      await Promise.all([import('axios'), import('axios-retry')]);
    const client = axios.create({ headers });
    const retryCondition = error => isNetworkOrIdempotentRequestError(error) || error.response?.status === 429;
    axiosRetry(client, { retries: 5, retryDelay: exponentialDelay, retryCondition });
    return async () => (await client.get(url)).data;
  },
  async undici() {
    const { Agent, fetch, RetryAgent } = await import('undici');
    const dispatcher = new RetryAgent(new Agent(), { maxRetries: 5 });
    return async () => {
      const response = await fetch(url, { headers, dispatcher });
      if (!response.ok) throw new Error(String(response.status));
      return response.json();
    };
  },
  async openai() {
    const { default: OpenAI } = await import('openai');
    const client = new OpenAI({ baseURL: BASE, apiKey: KEY, maxRetries: 5 });
    return () => client.get('/pets?limit=1');
  },
  async stripe() {
    const { default: Stripe } = await import('stripe');
    const { hostname: host, port } = new URL(BASE);
    const client = new Stripe(KEY, { host, port, protocol: 'http', maxNetworkRetries: 5, telemetry: false });
    return () => client.rawRequest('GET', '/pets?limit=1');
  },
};
class NotPets extends Error {}
const doJob = await clients[process.argv[2]]();
const started = performance.now();
let next = 0;
let results = 0;
const errors = {};
const report = () =>
  console.log(JSON.stringify({ results, errors, seconds: Math.round((performance.now() - started) / 1000) }));
process.on('SIGTERM', () => {
  report();
  process.exit();
});
await Promise.all(
  Array.from({ length: WORKERS }, async () => {
    while (next++ < JOBS)
      await doJob()
        .then(pets => {
          // A client that takes an error for a result loses the job.
          if (pets.length !== 1) throw new NotPets();
          results++;
        })
        .catch(error => {
          errors[error.constructor.name] = (errors[error.constructor.name] ?? 0) + 1;
        });
  }),
);
report();
`;

interface Report {
  results: number;
  errors: Record<string, number>;
  seconds: number;
}

const directory = downloaded('rivals', Object.values(rivals));
const scope = 'node_modules/@petstore';
cpSync(join(installClient().directory, scope), join(directory, scope), { recursive: true });
const program = join(directory, 'program.js');
writeFileSync(program, PROGRAM);

await using resources = new AsyncDisposableStack();
const data = mkdtempSync(join(tmpdir(), 'petstore-figures-'));
resources.defer(() => rmSync(data, { recursive: true }));
const replica = new Replica(
  1,
  { PETSTORE_DATA: data, PETSTORE_CONNECTIONS_PER_ADDRESS: '10000' },
  { args: ['--demo'] },
);
resources.defer(() => replica.stop());
await replica.start();
const baseUrl = `http://127.0.0.1:${replica.port}`;
const apiKey = readFileSync(join(data, 'admin.key'), 'utf8').trim();
const store = new PetStore({ baseUrl, apiKey });

const names = ['@petstore/client', ...Object.keys(rivals).filter(name => name !== 'axios')];
const quotas = { perMinute: PER_MINUTE, perDay: 1_000_000 };
const keys = await Promise.all(
  names.map(name => store.keys.create({ name, plan: 'enterprise', scopes: ['pets:read'], quotas })),
);
const ended = keys.map(async ({ id, name, key }) => {
  const env = { ...process.env, BASE: baseUrl, KEY: key, JOBS: String(JOBS), WORKERS: String(WORKERS) };
  const child = spawn(process.execPath, [program, name], {
    cwd: directory,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [output] = await Promise.all([outputOf(child), once(child, 'close')]);
  const report: Report = JSON.parse(output);
  const { days } = await store.keys.usage(id);
  const bans = await store.events.list({ type: 'key.banned', subject: `keys/${id}` }).toArray({ limit: 100 });
  const [admitted, refused] = (['admitted', 'refused'] as const).map(kind =>
    days.reduce((sum, day) => sum + day[kind], 0),
  );
  return { name, ...report, admitted, refused, bans: bans.length };
});

// The service is not there when the next minute begins, and all clients send requests again. Before that its counts are on disk.
await sleep(MINUTE - (Date.now() % MINUTE) - 2000);
process.kill(replica.pid, 'SIGKILL');
await replica.ended();
await sleep(3000);
await replica.start();

process.stdout.write(
  '| Client | Results | Requests | Rejected (429) | Bans | Seconds |\n|---|---|---|---|---|---|\n',
);
for (const { name, results, errors, seconds, admitted, refused, bans } of await Promise.all(ended)) {
  const lost = Object.entries(errors).map(([error, count]) => `${count} × ${error}`);
  process.stdout.write(
    `| ${name} | ${[results, ...lost].join(', ')} | ${admitted! + refused!} | ${refused} | ${bans} | ${seconds} |\n`,
  );
}

async function outputOf(child: ChildProcess): Promise<string> {
  const timer = setTimeout(() => child.kill('SIGTERM'), LONGEST);
  const output = await text(child.stdout!);
  clearTimeout(timer);
  return output;
}
