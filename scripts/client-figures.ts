// Measures how many requests the client needs for a result, and how much of a quota it uses:
// node_modules/.bin/node scripts/client-figures.ts
// 60 workers share a key of the Free plan and do 180 jobs. The clocks of the service and of the client are advanced.
import { MINUTE } from '../service/src/kit/clock.ts';
import { ClientTime } from '../service/test/support/client-time.ts';
import { importClient } from '../service/test/support/packed-client.ts';
import { startTestApp } from '../service/test/support/test-app.ts';
import { TestClock } from '../service/test/support/test-clock.ts';

const WORKERS = 60;
const JOBS = 180;
const QUOTA = 60;

const { PetStore } = await importClient();
await using resources = new AsyncDisposableStack();
const clock = new TestClock();
const shop = await startTestApp({ after: release => resources.defer(release) }, { alone: false, clock });
const { key: apiKey, keyId } = await shop.clientWith({ plan: 'free' });
const time = new ClientTime(clock);
const statuses: number[] = [];
const waits: string[] = [];
const start = clock.now();
const store = new PetStore({
  baseUrl: shop.origin,
  apiKey,
  clock: time,
  onWait: ({ reason, milliseconds }) => waits.push(`${reason}, ${(milliseconds / 1000).toFixed(1)} s`),
  fetch: async (url, init) => {
    const response = await fetch(url, init);
    statuses.push(response.status);
    return response;
  },
});

let next = 0;
let results = 0;
const work = async () => {
  while (next < JOBS) {
    await store.categories.create({ name: `Category ${next++}` });
    results++;
  }
};
await time.run(Promise.all(Array.from({ length: WORKERS }, work)), [store]);
const minutes = Math.floor(clock.now() / MINUTE) - Math.floor(start / MINUTE) + 1;
const { ban } = (await shop.api.get(`/keys/${keyId}`)).body;

const lines = [
  `Results                ${results} of ${JOBS}`,
  `Requests               ${statuses.length}`,
  `Requests per result    ${(statuses.length / results).toFixed(3)} (goal: at most 1.02)`,
  `Quota used             ${((results / (minutes * QUOTA)) * 100).toFixed(1)} % of ${minutes} minutes (goal: at least 98 %)`,
  `Rejected (429)         ${statuses.filter(status => status === 429).length}`,
  `Ban                    ${ban ? 'yes' : 'none'}`,
  `Reported waits         ${waits.length}: ${waits.join('; ')}`,
];
process.stdout.write(`${lines.join('\n')}\n`);
