import type { LoadResult } from './load-generator.ts';
import type { Pair } from './pairs.ts';
import { atLeast, showTarget, type Target, type Verdict } from './targets.ts';

/** A row of the table. */
export interface Finding {
  what: string;
  target: string;
  measured: string;
  absolute: string;
  /** `undefined` if there is no target. */
  verdict: Verdict | undefined;
}

export interface Spread {
  median: number;
  min: number;
  max: number;
}

export function spread(values: number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return {
    median: (sorted[Math.floor(middle)]! + sorted[Math.ceil(middle)]!) / 2,
    min: sorted[0]!,
    max: sorted.at(-1)!,
  };
}

export function medianOf<T>(items: T[], figure: (item: T) => number): number {
  return spread(items.map(figure)).median;
}

/** Formats a spread as `median (min–max)`. */
export function showSpread({ median, min, max }: Spread, digits: number, unit = ''): string {
  return `${median.toFixed(digits)}${unit} (${min.toFixed(digits)}–${max.toFixed(digits)})`;
}

export interface ThroughputGoal {
  what: string;
  /** The names of the sides in the figures. */
  a: string;
  b: string;
  /** The target for the ratio A / B; `undefined` if the ratio is only shown. */
  target: Target | undefined;
  /** The ratios that must reach the target; only throughput if left out. */
  decides?: 'throughput' | 'throughput and CPU';
}

/**
 * Returns the ratio A / B of each pair, in requests per second and in requests per second of CPU time. The second ratio shows
 * differences that throughput hides if the generator or the disk is the bottleneck of a side.
 */
export function throughputFinding(
  { what, a, b, target, decides = 'throughput' }: ThroughputGoal,
  pairs: Pair[],
): Finding {
  const throughput = spread(pairs.map(pair => pair.a.requestsPerSecond / pair.b.requestsPerSecond));
  const byCpu = spread(pairs.map(pair => pair.b.serverCpuPerRequest / pair.a.serverCpuPerRequest));
  const busiest = Math.max(...pairs.flatMap(pair => [pair.a.generatorBusy, pair.b.generatorBusy]));
  const digits = (target?.goal ?? 1) < 2 ? 2 : 1;
  const deciding = decides === 'throughput' ? throughput.median : Math.min(throughput.median, byCpu.median);
  const figures = [
    showSide(
      a,
      pairs.map(pair => pair.a),
    ),
    showSide(
      b,
      pairs.map(pair => pair.b),
    ),
    `generator at most ${Math.round(busiest * 100)} % busy`,
  ];
  return {
    what,
    target: target === undefined ? 'none' : showTarget('≥', target, ' ×'),
    measured: `${showSpread(throughput, digits)}; by CPU ${showSpread(byCpu, digits)}`,
    absolute: figures.join('; '),
    verdict: target && atLeast(deciding, target),
  };
}

function showSide(name: string, results: LoadResult[]): string {
  const perSecond = Math.round(medianOf(results, result => result.requestsPerSecond)).toLocaleString('en');
  const cpu = medianOf(results, result => result.serverCpuPerRequest).toFixed(1);
  const p99 = (medianOf(results, result => result.latency.p99) / 1000).toFixed(1);
  return `${name} ${perSecond}/s, ${cpu} µs CPU, p99 ${p99} ms`;
}
