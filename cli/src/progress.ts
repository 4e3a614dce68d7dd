import { MultiBar } from 'cli-progress';
import type { Context } from './command.ts';

const SECOND = 1000;
/** On a narrower terminal there is no room for a bar. */
const MIN_BAR = 5;
const MAX_BAR = 30;
const GAP = '  ';

export interface Progress {
  /** Shows how many items are done. */
  update: (done: number) => void;
  /** Writes a line above the bar. */
  note: (message: string) => void;
  stop: () => void;
}

interface Options {
  /** The number of items; `undefined` if it is not known. */
  total?: number;
  /** How many were done before. */
  done?: number;
  /** What the items are: `pets`. */
  unit: string;
  isHidden?: boolean;
}

/** Shows progress on the terminal of standard error, with the rate and the time that is left. Nothing is shown elsewhere. */
export function startProgress(
  { note, settings: { isQuiet, environment }, stderr: stream }: Pick<Context, 'note' | 'settings' | 'stderr'>,
  { total, done = 0, unit, isHidden = false }: Options,
): Progress {
  if (!stream.isTTY || isQuiet || isHidden) return { update: () => {}, note, stop: () => {} };
  const startedAt = performance.now();
  const format = (_: unknown, { value }: { value: number }) => {
    const width = Number(environment.COLUMNS) || stream.columns || 80;
    const rate = (value - done) / ((performance.now() - startedAt) / SECOND);
    return lineOf({ value, total, unit, width }, rate);
  };
  const bars = new MultiBar({
    stream,
    format,
    fps: 5,
    clearOnComplete: true,
    hideCursor: false,
    // The command may be killed: the terminal is left as it is.
    linewrap: true,
    gracefulExit: false,
  });
  const bar = bars.create(total ?? 0, done);
  return {
    update: value => bar.update(value),
    note: message => bars.log(`${message}\n`),
    stop: () => bars.stop(),
  };
}

interface Line {
  value: number;
  total: number | undefined;
  unit: string;
  width: number;
}

/** Formats a line that is narrower than the terminal. `rate` is in items a second. */
export function lineOf({ value, total, unit, width }: Line, rate: number): string {
  const speed = rate > 0 ? [`${grouped(rate)}/s`] : [];
  if (total === undefined) return [`${grouped(value)} ${unit}`, ...speed].join(GAP).slice(0, width - 1);
  const left = rate > 0 ? [`${durationOf((total - value) / rate)} left`] : [];
  const percent = `${Math.floor((100 * value) / Math.max(1, total))} %`;
  const counts = `${grouped(value)}/${grouped(total)} ${unit}`;
  const texts = [[percent, counts, ...speed, ...left], [percent, ...speed, ...left], [percent]];
  const text = texts.map(parts => parts.join(GAP)).find(text => text.length < width) ?? '';
  const size = Math.min(MAX_BAR, width - text.length - GAP.length - 1);
  if (size < MIN_BAR) return text;
  const full = Math.floor((size * value) / Math.max(1, total));
  return '█'.repeat(full) + '░'.repeat(size - full) + GAP + text;
}

const grouped = (number: number) => Math.round(number).toLocaleString('en');

function durationOf(seconds: number): string {
  const whole = Math.ceil(seconds);
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60)];
  if (hours > 0) return `${hours} h ${minutes} min`;
  return minutes > 0 ? `${minutes} min ${whole % 60} s` : `${whole} s`;
}
