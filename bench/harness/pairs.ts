import type { LoadGenerator, LoadResult } from './load-generator.ts';
import type { Server } from './servers.ts';

export interface Effort {
  /** Measurements of each side. They alternate, so that other load of the machine affects both. */
  pairs: number;
  seconds: number;
  warmUpSeconds: number;
}

/** One side of a comparison: a server, or several that share the load, and the requests to send. */
export interface Side {
  server: Server | readonly Server[];
  requests: string[];
  expectedStatus: number;
  connections: number;
}

export interface Pair {
  a: LoadResult;
  b: LoadResult;
}

/** Measures A B A B …, after warming both up. */
export async function measurePairs(
  generator: LoadGenerator,
  effort: Effort,
  a: Side,
  b: Side,
): Promise<Pair[]> {
  const load = ({ server, ...job }: Side, seconds: number) => {
    const servers = [server].flat();
    const ports = servers.map(({ port }) => port);
    return generator.run({ ...job, seconds, ports, serverPids: servers.map(({ pid }) => pid) });
  };

  await load(a, effort.warmUpSeconds);
  await load(b, effort.warmUpSeconds);
  const pairs: Pair[] = [];
  while (pairs.length < effort.pairs) {
    pairs.push({ a: await load(a, effort.seconds), b: await load(b, effort.seconds) });
  }
  return pairs;
}
