/** Values that a plot shows. */
export interface PlotSeries {
  name: string;
  /** Bars of several series are drawn over each other: the highest first. A point with the value `null` is not drawn. */
  kind: 'bars' | 'line' | 'points';
  tone: 'accent' | 'danger' | 'warning' | 'muted';
  /** One value for each time. */
  values: readonly (number | null)[];
}
