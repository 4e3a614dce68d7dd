import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Balancer } from './balancer.ts';
import { startServiceProxy } from './haproxy.ts';
import { Replica } from './replica.ts';
import { type LoadFigures, SteadyLoad } from './steady-load.ts';

interface RollingRestartOptions {
  databaseUrl: string;
  redisUrl: string;
  /** How often each of the two replicas is restarted. */
  restarts: number;
  drainSeconds: number;
  /** The number of clients of each proxy. */
  clients: number;
  /** Called after each round, with its number, starting at 1. */
  onRound?: (round: number) => void;
}

interface RollingRestartOutcome {
  haproxy: LoadFigures;
  balancer: LoadFigures;
  /** Log lines of the replicas with level `warn` and above. */
  warnings: string[];
}

/** Restarts two replicas in turn, several times, while clients read and write through HAProxy and the balancer. */
export async function rollingRestarts(options: RollingRestartOptions): Promise<RollingRestartOutcome> {
  const { databaseUrl, redisUrl, restarts, drainSeconds, clients, onRound } = options;
  const environment: NodeJS.ProcessEnv = {
    DATABASE_URL: databaseUrl,
    REDIS_URL: redisUrl,
    LOG_LEVEL: 'warn',
    PETSTORE_TRUST_PROXY: '127.0.0.1',
    PETSTORE_DRAIN_SECONDS: String(drainSeconds),
  };
  await using cleanUp = new AsyncDisposableStack();
  const replicas = [new Replica(1, environment), new Replica(2, environment)] as const;
  const [first, second] = replicas;
  environment.PETSTORE_DATA = first.directory;
  for (const replica of replicas) cleanUp.defer(() => replica.stop());
  await first.start();
  await second.start();
  const key = readFileSync(join(first.directory, 'admin.key'), 'utf8').trim();
  const balancer = new Balancer();
  cleanUp.defer(() => balancer.close());
  const balancerUrl = await balancer.listen('127.0.0.1', 0);
  for (const { port } of replicas) await balancer.add(port);
  const haproxy = await startServiceProxy([first.port, second.port]);
  cleanUp.defer(haproxy.stop);

  const loads = {
    haproxy: new SteadyLoad(`http://127.0.0.1:${haproxy.port}`, key, 'HAProxy', clients),
    balancer: new SteadyLoad(balancerUrl, key, 'Balancer', clients),
  };
  const warnings: string[] = [];
  for (let round = 1; round <= restarts; round++) {
    for (const replica of replicas) {
      await replica.end();
      warnings.push(...replica.newLogLines());
      await replica.start();
    }
    onRound?.(round);
  }
  const [ofHaproxy, ofBalancer] = await Promise.all([loads.haproxy.stop(), loads.balancer.stop()]);
  return { haproxy: ofHaproxy, balancer: ofBalancer, warnings };
}
