import { useMemo } from 'react';
import { useKeyUsage } from '../../data/key-usage.ts';
import type { UsageDay } from '../../data/usage-days.ts';
import { inWords } from '../../kit/in-words.ts';
import { wordsLocale } from '../../kit/locale.ts';
import { Plot } from '../../kit/plot.tsx';
import type { PlotSeries } from '../../kit/plot-series.ts';
import { Warnings } from './warnings.tsx';

/** The limit is part of the plot when a day comes this close to it. Otherwise the bars would be too small to see. */
const NEAR = 0.1;

/** The requests of a key in the last 90 days, against its limit, with rejected requests and bans. */
export function UsagePlot({ id }: { id: number }) {
  const { data, error } = useKeyUsage(id);
  if (error) return <p className="field-error">{error.message}</p>;
  if (!data) return <div className="usage-space" />;
  const { minute, day } = data.windows;
  return (
    <section className="panel-part usage" aria-label="Usage">
      <h3>Requests in the last 90 days</h3>
      <p>
        {day.used.toLocaleString()} of {day.limit.toLocaleString()} today, {minute.used.toLocaleString()} of{' '}
        {minute.limit.toLocaleString()} this minute
      </p>
      <Warnings warnings={data.warnings} />
      <Days days={data.days} limit={day.limit} />
      <DaysTable days={data.days} />
    </section>
  );
}

function Days({ days, limit }: { days: readonly UsageDay[]; limit: number }) {
  const { times, series, top } = useMemo(() => plotOf(days, limit), [days, limit]);
  const sum = (field: 'admitted' | 'rejected' | 'bans') => days.reduce((total, day) => total + day[field], 0);
  const label = [
    `${sum('admitted').toLocaleString()} admitted`,
    `${sum('rejected').toLocaleString()} rejected`,
    inWords(sum('bans'), 'ban'),
    `limit ${limit.toLocaleString()} a day`,
  ].join(', ');
  return (
    <Plot
      label={`Requests by day: ${label}`}
      times={times}
      series={series}
      top={top}
      textOf={index => textOf(days[index]!)}
    />
  );
}

/** The plot as text. Days without a request are left out. */
function DaysTable({ days }: { days: readonly UsageDay[] }) {
  const used = days.filter(({ admitted, rejected, bans }) => admitted + rejected + bans > 0).toReversed();
  if (used.length === 0) return <p>The key sent no requests in this period.</p>;
  return (
    <details>
      <summary>As a table</summary>
      <table className="usage-days">
        <thead>
          <tr>
            <th scope="col">Day (UTC)</th>
            <th scope="col">Admitted</th>
            <th scope="col">Rejected</th>
            <th scope="col">Bans</th>
          </tr>
        </thead>
        <tbody>
          {used.map(({ time, admitted, rejected, bans }) => (
            <tr key={time}>
              <th scope="row">{dateOf(time)}</th>
              <td>{admitted.toLocaleString()}</td>
              <td>{rejected.toLocaleString()}</td>
              <td>{bans.toLocaleString()}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}

function plotOf(days: readonly UsageDay[], limit: number) {
  const totals = days.map(({ admitted, rejected }) => admitted + rejected);
  const highest = Math.max(1, ...totals);
  const showsLimit = highest >= limit * NEAR;
  const series: PlotSeries[] = [
    // Admitted requests are drawn over the total, so what is left of it are the rejected ones.
    { name: 'Rejected', kind: 'bars', tone: 'danger', values: totals },
    { name: 'Admitted', kind: 'bars', tone: 'accent', values: days.map(({ admitted }) => admitted) },
    {
      name: 'Bans',
      kind: 'points',
      tone: 'warning',
      values: days.map(({ bans }, i) => (bans > 0 ? totals[i]! : null)),
    },
  ];
  if (showsLimit)
    series.push({ name: 'Daily limit', kind: 'line', tone: 'muted', values: days.map(() => limit) });
  const top = 1.1 * (showsLimit ? Math.max(highest, limit) : highest);
  return { times: days.map(({ time }) => time), series, top };
}

function textOf({ time, admitted, rejected, bans }: UsageDay): string {
  const parts = [`${admitted.toLocaleString()} admitted`, `${rejected.toLocaleString()} rejected`];
  if (bans > 0) parts.push(inWords(bans, 'ban'));
  return `${dateOf(time)} (UTC): ${parts.join(', ')}`;
}

function dateOf(time: number): string {
  return new Date(time * 1000).toLocaleDateString(wordsLocale, { dateStyle: 'medium', timeZone: 'UTC' });
}
