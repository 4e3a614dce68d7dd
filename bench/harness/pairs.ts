import type { Bench } from './bench.ts';
import {
  type Finding,
  medianOf,
  showSpread,
  showTarget,
  spread,
  type Target,
  verdictOf,
} from './findings.ts';
import type { Load, LoadResult } from './load-generator.ts';

export interface Pair {
  a: LoadResult;
  b: LoadResult;
}

/** Measures A B A B …, after warming both up. */
export async function measurePairs({ generator, effort }: Bench, a: Load, b: Load): Promise<Pair[]> {
  await generator.run(a, effort.warmUpSeconds);
  await generator.run(b, effort.warmUpSeconds);
  const pairs: Pair[] = [];
  while (pairs.length < effort.pairs) {
    pairs.push({ a: await generator.run(a, effort.seconds), b: await generator.run(b, effort.seconds) });
  }
  return pairs;
}

/** One side of a comparison, and its name in the figures. */
export interface Contestant extends Load {
  name: string;
}

interface Comparison {
  what: string;
  target: Target;
  /** The ratios that must reach the target; only throughput if left out. */
  decides?: 'throughput' | 'throughput and CPU';
}

/** Measures the pairs of two sides, and returns what `ratioFinding` does. */
export async function compare(
  bench: Bench,
  comparison: Comparison,
  a: Contestant,
  b: Contestant,
): Promise<Finding> {
  return ratioFinding(comparison, [a.name, b.name], await measurePairs(bench, a, b));
}

/**
 * Returns the ratio A / B of each pair, in requests per second and in requests per second of CPU time. The second ratio shows
 * differences that throughput hides if the generator or the disk is the bottleneck of a side.
 */
export function ratioFinding(
  { what, target, decides = 'throughput' }: Comparison,
  [nameOfA, nameOfB]: readonly [string, string],
  pairs: readonly Pair[],
): Finding {
  const throughput = spread(pairs.map(pair => pair.a.requestsPerSecond / pair.b.requestsPerSecond));
  const byCpu = spread(pairs.map(pair => pair.b.serverCpuPerRequest / pair.a.serverCpuPerRequest));
  const busiest = Math.max(...pairs.flatMap(pair => [pair.a.generatorBusy, pair.b.generatorBusy]));
  const digits = target.goal < 2 ? 2 : 1;
  const of = (side: 'a' | 'b') => pairs.map(pair => pair[side]);
  const figures = [
    showSide(nameOfA, of('a')),
    showSide(nameOfB, of('b')),
    `generator at most ${Math.round(busiest * 100)} % busy`,
  ];
  return {
    what,
    target: showTarget(target),
    measured: `${showSpread(throughput, digits)}; by CPU ${showSpread(byCpu, digits)}`,
    absolute: figures.join('; '),
    verdict: verdictOf(
      target,
      decides === 'throughput' ? throughput.median : Math.min(throughput.median, byCpu.median),
    ),
  };
}

function showSide(name: string, results: LoadResult[]): string {
  const perSecond = Math.round(medianOf(results, result => result.requestsPerSecond)).toLocaleString('en');
  const cpu = medianOf(results, result => result.serverCpuPerRequest).toFixed(1);
  const p99 = (medianOf(results, result => result.latency.p99) / 1000).toFixed(1);
  return `${name} ${perSecond}/s, ${cpu} µs CPU, p99 ${p99} ms`;
}
