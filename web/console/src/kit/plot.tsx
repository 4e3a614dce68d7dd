import { type ReactNode, useCallback, useState } from 'react';
import { lazyPart } from './lazy-part.tsx';
import type { PlotSeries } from './plot-series.ts';

interface PlotProps {
  /** What the plot shows, with its most important figures, for users who do not see it. */
  label: string;
  /** The start of each UTC day, in Unix seconds. */
  times: readonly number[];
  series: readonly PlotSeries[];
  /** The highest value of the axis. */
  top: number;
  /** Describes the day at an index. It is below the plot, for the day that was last under the pointer, or for the last day. */
  textOf: (index: number) => ReactNode;
}

// uPlot is large, and no page needs it for its first view.
const Canvas = lazyPart(
  () => import('./plot-canvas.tsx'),
  'PlotCanvas',
  () => null,
);

/** A plot of values by day. Its space is there before it is loaded, so that nothing moves. */
export function Plot({ label, times, series, top, textOf }: PlotProps) {
  const [index, setIndex] = useState<number>();
  // The day stays when the pointer leaves the plot, so that a link in its text can be reached.
  const point = useCallback((index: number | undefined) => setIndex(last => index ?? last), []);
  return (
    <figure className="plot">
      <div className="plot-canvas" role="img" aria-label={label}>
        <Canvas times={times} series={series} top={top} onPoint={point} />
      </div>
      <figcaption>
        <ul className="plot-legend">
          {series.map(({ name, tone, kind }) => (
            <li key={name} data-tone={tone} data-kind={kind}>
              {name}
            </li>
          ))}
        </ul>
        <p>{textOf(Math.min(index ?? times.length - 1, times.length - 1))}</p>
      </figcaption>
    </figure>
  );
}
