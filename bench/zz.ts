import { startBackends } from './harness/backends.ts';
import { LoadGenerator } from './harness/load-generator.ts';
import { startService } from './harness/servers.ts';
import { openShop } from './harness/shop.ts';
import { readFileSync } from 'node:fs';
for (const below of [false, true]) {
await using b = below ? await startBackends() : undefined;
await using server = await startService({ env: { ...b?.env, MALLOC_ARENA_MAX: '1', NODE_OPTIONS: '--max-semi-space-size=8' } });
const requests = (await openShop(server)).createPet;
using generator = new LoadGenerator();
const r = await generator.run({ server, requests }, 40);
console.log(below, r.requestsPerSecond, readFileSync(`/proc/${server.pid}/status`,'utf8').match(/VmHWM.*/)![0]);
}
