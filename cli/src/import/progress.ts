import progress from 'cli-progress';

const SECOND = 1000;
/** On a narrower terminal there is no room for a bar. */
const MIN_BAR = 5;
const MAX_BAR = 30;

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
  /** The width of the terminal. */
  width: () => number;
}

/** Shows progress on a terminal, with the rate and the time that is left. Nothing is shown elsewhere. */
export function startProgress(
  stream: NodeJS.WriteStream,
  note: (message: string) => void,
  isQuiet: boolean,
  { total, done = 0, unit, width }: Options,
): Progress {
  if (!stream.isTTY || isQuiet) return { update: () => {}, note, stop: () => {} };
  const startedAt = performance.now();
  const bars = new progress.MultiBar({
    stream,
    fps: 5,
    clearOnComplete: true,
    hideCursor: false,
    linewrap: true,
    gracefulExit: false,
    format: (_, { value }) =>
      lineOf(
        { value, total, unit, width: width() },
        (value - done) / ((performance.now() - startedAt) / SECOND),
      ),
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
  const speed = rate > 0 ? ` ${grouped(rate)}/s` : '';
  if (total === undefined) return `${grouped(value)} ${unit}${speed}`.slice(0, width - 1);
  const left = rate > 0 ? ` ${durationOf((total - value) / rate)} left` : '';
  const percent = `${Math.floor((100 * value) / Math.max(1, total))} %`.padStart(5);
  const texts = [
    `${percent} ${grouped(value)}/${grouped(total)} ${unit}${speed}${left}`,
    `${percent}${speed}${left}`,
    percent,
  ];
  const text = texts.find(text => text.length < width) ?? '';
  const size = Math.min(MAX_BAR, width - text.length - 1);
  if (size < MIN_BAR) return text.trimStart();
  const full = Math.floor((size * value) / Math.max(1, total));
  return '█'.repeat(full) + '░'.repeat(size - full) + text;
}

const grouped = (number: number) => Math.round(number).toLocaleString('en');

function durationOf(seconds: number): string {
  const parts = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60), Math.floor(seconds % 60)];
  const [hours, minutes, rest] = parts;
  if (hours! > 0) return `${hours} h ${minutes} min`;
  return minutes! > 0 ? `${minutes} min ${rest} s` : `${rest} s`;
}
