import { type ReactNode, useState } from 'react';
import { PlotDrawing } from './plot-drawing.tsx';
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

/** A plot of values by day. */
export function Plot({ label, times, series, top, textOf }: PlotProps) {
  // The day stays when the pointer leaves the plot, so that a link in its text can be reached.
  const [index, setIndex] = useState<number>();
  return (
    <figure className="plot">
      <div role="img" aria-label={label}>
        <PlotDrawing times={times} series={series} top={top} onPoint={setIndex} />
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
