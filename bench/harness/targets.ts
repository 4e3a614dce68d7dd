/** The value that a figure must reach, and an ambitious one. */
export interface Target {
  goal: number;
  moonshot?: number;
}

export type Verdict = 'moonshot' | 'reached' | 'missed';

export function verdictOf(isReached: boolean): Verdict {
  return isReached ? 'reached' : 'missed';
}

export function atLeast(value: number, { goal, moonshot = Number.POSITIVE_INFINITY }: Target): Verdict {
  return value >= moonshot ? 'moonshot' : verdictOf(value >= goal);
}

export function atMost(value: number, { goal, moonshot = Number.NEGATIVE_INFINITY }: Target): Verdict {
  return value <= moonshot ? 'moonshot' : verdictOf(value <= goal);
}

/** `unit` includes the space before it. */
export function showTarget(sign: '≥' | '≤', { goal, moonshot }: Target, unit: string): string {
  const shown = (value: number) => `${sign} ${value.toLocaleString('en')}${unit}`;
  return moonshot === undefined ? shown(goal) : `goal ${shown(goal)}; moonshot ${shown(moonshot)}`;
}
