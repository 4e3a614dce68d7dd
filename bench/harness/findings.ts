/** The value that a figure must reach, and an ambitious one. `unit` includes the space before it. */
export interface Target {
  sign: '≥' | '≤';
  unit: string;
  goal: number;
  moonshot?: number;
}

export function atLeast(unit: string, goal: number, moonshot?: number): Target {
  return { sign: '≥', unit, goal, ...(moonshot !== undefined && { moonshot }) };
}

export function atMost(unit: string, goal: number, moonshot?: number): Target {
  return { sign: '≤', unit, goal, ...(moonshot !== undefined && { moonshot }) };
}

/** A row of the table. */
export interface Finding {
  what: string;
  target: string;
  measured: string;
  absolute: string;
  verdict: 'moonshot' | 'reached' | '**missed**';
}

interface Figure {
  what: string;
  target: Target;
  /** The measurements. Their median must reach the target. */
  values: readonly number[];
  /** The number of decimal places. */
  digits: number;
  absolute: string;
}

/** Returns a row with one figure. */
export function figure({ what, target, values, digits, absolute }: Figure): Finding {
  const all = spread(values);
  const measured = showSpread(all, digits, target.unit);
  return { what, target: showTarget(target), measured, absolute, verdict: verdictOf(target, all.median) };
}

export function verdictOf({ sign, goal, moonshot }: Target, value: number): Finding['verdict'] {
  const reaches = (wanted: number) => (sign === '≥' ? value >= wanted : value <= wanted);
  if (moonshot !== undefined && reaches(moonshot)) return 'moonshot';
  return reaches(goal) ? 'reached' : '**missed**';
}

export function showTarget({ sign, unit, goal, moonshot }: Target): string {
  const shown = (value: number) => `${sign} ${value.toLocaleString('en')}${unit}`;
  return moonshot === undefined ? shown(goal) : `goal ${shown(goal)}; moonshot ${shown(moonshot)}`;
}

export interface Spread {
  median: number;
  min: number;
  max: number;
}

export function spread(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return {
    median: (sorted[Math.floor(middle)]! + sorted[Math.ceil(middle)]!) / 2,
    min: sorted[0]!,
    max: sorted.at(-1)!,
  };
}

export function medianOf<T>(items: readonly T[], value: (item: T) => number): number {
  return spread(items.map(value)).median;
}

/** Formats a spread as `median (min–max)`. */
export function showSpread({ median, min, max }: Spread, digits: number, unit = ''): string {
  return `${median.toFixed(digits)}${unit} (${min.toFixed(digits)}–${max.toFixed(digits)})`;
}
