import type { CSSProperties, PointerEvent } from 'react';
import { wordsLocale } from './locale.ts';
import type { PlotSeries } from './plot-series.ts';

/** The distances between two lines of the grid: half a request does not exist. */
const steps = Array.from({ length: 10 }, (_, i) => [1, 2, 5].map(step => step * 10 ** i)).flat();

/** The most lines of the grid, and the most dates below it. */
const MOST_LINES = 5;
const MOST_DATES = 6;

/** The width of a bar, of the space that a day has. */
const BAR = 0.8;

const dates = new Intl.DateTimeFormat(wordsLocale, { day: 'numeric', month: 'short', timeZone: 'UTC' });
const compact = new Intl.NumberFormat(undefined, { notation: 'compact' });

interface PlotDrawingProps {
  /** The start of each UTC day, in Unix seconds. */
  times: readonly number[];
  series: readonly PlotSeries[];
  /** The highest value of the axis. */
  top: number;
  /** Is called with the index of the day under the pointer. */
  onPoint: (index: number) => void;
}

/** Values by day in an area that is as wide as its place. Its colours are those of the theme. */
export function PlotDrawing({ times, series, top, onPoint }: PlotDrawingProps) {
  const count = times.length;
  const step = steps.find(step => top / step <= MOST_LINES) ?? top;
  const lines = Array.from({ length: Math.floor(top / step) + 1 }, (_, i) => i * step);
  const everyDay = Math.ceil(count / MOST_DATES);
  const at = (value: number): CSSProperties => ({ bottom: `${(100 * value) / top}%` });
  const middleOf = (i: number) => `${(100 * (i + 0.5)) / count}%`;

  function point({ clientX, currentTarget }: PointerEvent): void {
    const { left, width } = currentTarget.getBoundingClientRect();
    onPoint(Math.min(count - 1, Math.max(0, Math.floor((count * (clientX - left)) / width))));
  }

  return (
    <div className="plot-drawing" onPointerMove={point}>
      {lines.map(value => (
        <span key={value} className="plot-line" style={at(value)}>
          {compact.format(value)}
        </span>
      ))}
      <svg
        className="plot-area"
        viewBox={`0 0 ${count} ${top}`}
        preserveAspectRatio="none"
        aria-hidden="true"
      >
        {series.map(({ name, kind, tone, values }) =>
          kind === 'points' ? null : (
            <path
              key={name}
              d={kind === 'bars' ? barsOf(values, top) : lineOf(values, top)}
              {...{ 'data-kind': kind, 'data-tone': tone }}
            />
          ),
        )}
      </svg>
      {series
        .filter(({ kind }) => kind === 'points')
        .map(({ name, tone, values }) =>
          values.map((value, i) =>
            value === null ? null : (
              <i
                key={`${name} ${times[i]}`}
                className="plot-point"
                data-tone={tone}
                style={{ ...at(value), insetInlineStart: middleOf(i) }}
              />
            ),
          ),
        )}
      {times.map(
        (time, i) =>
          i % everyDay === 0 && (
            <span key={time} className="plot-date" style={{ insetInlineStart: middleOf(i) }}>
              {dates.format(time * 1000)}
            </span>
          ),
      )}
    </div>
  );
}

function barsOf(values: PlotSeries['values'], top: number): string {
  const bar = (value: number, i: number) => `M${i + (1 - BAR) / 2} ${top}v${-value}h${BAR}v${value}z`;
  return values.map((value, i) => (value ? bar(value, i) : '')).join('');
}

function lineOf(values: PlotSeries['values'], top: number): string {
  return values.map((value, i) => `${i === 0 ? 'M' : 'L'}${i + 0.5} ${top - (value ?? 0)}`).join('');
}
