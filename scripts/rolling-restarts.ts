// Proves that rolling restarts fail no request: two replicas on PostgreSQL and Redis, reads and writes through HAProxy
// (deploy/haproxy.cfg) and through the balancer of start:replicas.
// npm run rolling-restarts [-- --restarts 20 --drain 5 --clients 8]
import { parseArgs } from 'node:util';
import { startPostgres } from './servers/postgres.ts';
import { startRedis } from './servers/redis.ts';
import { rollingRestarts } from './servers/rolling-restarts.ts';

const { values } = parseArgs({
  options: {
    restarts: { type: 'string', default: '20' },
    drain: { type: 'string', default: '5' },
    clients: { type: 'string', default: '8' },
  },
});

await using backends = new AsyncDisposableStack();
const postgres = await startPostgres();
backends.defer(() => postgres.stop());
const redis = await startRedis();
backends.defer(() => redis.stop());

const { haproxy, balancer, warnings } = await rollingRestarts({
  databaseUrl: postgres.url,
  redisUrl: redis.url,
  restarts: Number(values.restarts),
  drainSeconds: Number(values.drain),
  clients: Number(values.clients),
  onRound: round => process.stdout.write(`Round ${round} of ${values.restarts}\n`),
});
const print = (...cells: unknown[]) =>
  process.stdout.write(`${cells.map(cell => String(cell).padEnd(10)).join('')}\n`);
print('Proxy', 'Reads', 'Writes', 'Failed');
for (const [name, { reads, writes, failures }] of Object.entries({ HAProxy: haproxy, Balancer: balancer })) {
  print(name, reads, writes, failures.length);
}
const problems = [...haproxy.failures, ...balancer.failures, ...warnings];
for (const problem of problems) process.stdout.write(`${problem}\n`);
if (problems.length > 0) process.exitCode = 1;
