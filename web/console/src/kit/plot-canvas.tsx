import { useEffect, useRef } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { PlotSeries } from './plot-series.ts';

const DAY = 86_400;

/** The distances between two lines of the grid: half a request does not exist. */
const whole = Array.from({ length: 10 }, (_, i) => [1, 2, 5].map(step => step * 10 ** i)).flat();

const wholeDays = [1, 2, 5, 10, 15, 30].map(days => days * DAY);

interface PlotCanvasProps {
  times: readonly number[];
  series: readonly PlotSeries[];
  top: number;
  /** Is called with the index of the day under the pointer, or with `undefined` when there is none. */
  onPoint: (index: number | undefined) => void;
}

/** Draws a plot with uPlot. `plot.tsx` loads it after the page. */
export function PlotCanvas({ times, series, top, onPoint }: PlotCanvasProps) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = place.current!;
    const options = optionsOf(element, series, top, onPoint);
    const data: uPlot.AlignedData = [[...times], ...series.map(({ values }) => [...values])];
    const plot = new uPlot(options, data, element);
    const sizes = new ResizeObserver(() =>
      plot.setSize({ width: element.clientWidth, height: element.clientHeight }),
    );
    sizes.observe(element);
    // A canvas does not follow the theme by itself, and the paths of bars contain their color.
    const redraw = () => plot.redraw();
    const themes = new MutationObserver(redraw);
    themes.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    const dark = matchMedia('(prefers-color-scheme: dark)');
    dark.addEventListener('change', redraw);
    return () => {
      dark.removeEventListener('change', redraw);
      themes.disconnect();
      sizes.disconnect();
      plot.destroy();
    };
  }, [times, series, top, onPoint]);
  return <div ref={place} className="plot-place" />;
}

function optionsOf(
  element: HTMLElement,
  series: readonly PlotSeries[],
  top: number,
  onPoint: PlotCanvasProps['onPoint'],
): uPlot.Options {
  const axis = {
    stroke: () => colorOf(element, 'muted'),
    grid: { stroke: () => colorOf(element, 'line'), width: 1 },
    ticks: { show: false },
    font: '12px system-ui, sans-serif',
  };
  const day = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' });
  const compact = new Intl.NumberFormat(undefined, { notation: 'compact' });
  return {
    width: element.clientWidth,
    height: element.clientHeight,
    // Days are UTC days, as the limits are.
    tzDate: seconds => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
    // The bars of the first and the last day are half a day wider than their times.
    scales: {
      x: { range: (_, first, last) => [first - DAY / 2, last + DAY / 2] },
      y: { range: () => [0, top] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        space: 70,
        incrs: wholeDays,
        values: (_, seconds) => seconds.map(at => day.format(at * 1000)),
      },
      { ...axis, size: 44, incrs: whole, values: (_, values) => values.map(value => compact.format(value)) },
    ],
    series: [{}, ...series.map(one => seriesOf(element, one))],
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { show: false } },
    hooks: { setCursor: [({ cursor }) => onPoint(cursor.idx ?? undefined)] },
  };
}

function seriesOf(element: HTMLElement, { name, kind, tone }: PlotSeries): uPlot.Series {
  const color = () => colorOf(element, tone);
  const points = { show: kind === 'points', size: 9, stroke: color, fill: color };
  if (kind === 'bars') {
    return { label: name, fill: color, width: 0, points, paths: uPlot.paths.bars!({ size: [0.8, 40] }) };
  }
  if (kind === 'points') return { label: name, stroke: color, points, paths: () => null };
  return { label: name, stroke: color, width: 1.5, dash: [6, 4], points };
}

/** The color that a token has in the current theme. A canvas does not know `light-dark()`, which the tokens contain. */
function colorOf(element: HTMLElement, token: PlotSeries['tone'] | 'line'): string {
  element.style.color = `var(--${token})`;
  return getComputedStyle(element).color;
}
