import { Link } from '@tanstack/react-router';
import { type ReactNode, useMemo } from 'react';
import { type Day, shownDay, startOf } from '../../data/days.ts';
import type { OrdersByDay } from '../../data/orders-by-day.ts';
import { inWords } from '../../kit/in-words.ts';
import { Plot } from '../../kit/plot.tsx';
import type { PlotSeries } from '../../kit/plot-series.ts';

/** The axis has at least this many orders, so that a single one is no bar of the full height. */
const LOWEST_TOP = 5;

/** Whether there are orders of at least two days: one bar says nothing. */
export function hasHistory({ days }: OrdersByDay): boolean {
  return days.filter(({ orders }) => orders > 0).length > 1;
}

/** The orders of the last 30 days. */
export function OrdersPlot({ orders }: { orders: OrdersByDay }) {
  const total = orders.days.reduce((sum, { orders }) => sum + orders, 0);
  return (
    <section className="card orders-plot" aria-label="Orders of the last 30 days">
      <h2>
        <OrdersLink from={orders.days[0]!.day} withCancelled={orders.withCancelled}>
          Orders of the last 30 days <small>{total.toLocaleString()}</small>
        </OrdersLink>
      </h2>
      <Days {...orders} />
    </section>
  );
}

function Days({ days, withCancelled }: OrdersByDay) {
  const { times, series, top } = useMemo(() => plotOf(days, withCancelled), [days, withCancelled]);
  const highest = days.toSorted((a, b) => b.orders - a.orders)[0]!;
  return (
    <Plot
      label={`Orders by day: at most ${inWords(highest.orders, 'order')}, on ${shownDay(highest.day)}`}
      times={times}
      series={series}
      top={top}
      textOf={index => {
        const { day, orders } = days[index]!;
        return (
          <>
            {shownDay(day)}:{' '}
            <OrdersLink from={day} to={day} withCancelled={withCancelled}>
              {inWords(orders, 'order')}
            </OrdersLink>
          </>
        );
      }}
    />
  );
}

function plotOf(days: OrdersByDay['days'], withCancelled: boolean) {
  const name = withCancelled ? 'Placed, with cancelled ones' : 'Placed, without cancelled ones';
  const values = days.map(({ orders }) => orders);
  const series: PlotSeries[] = [{ name, kind: 'bars', tone: 'accent', values }];
  // The plot shows UTC days: those with the same dates as the days of the user.
  const times = days.map(({ day }) => Date.parse(day) / 1000);
  return { times, series, top: 1.1 * Math.max(LOWEST_TOP, ...values) };
}

interface OrdersLinkProps {
  from: Day;
  to?: Day;
  withCancelled: boolean;
  children: ReactNode;
}

/** Leads to as many rows as were counted: cancelled orders are only in the event log. */
function OrdersLink({ from, to, withCancelled, children }: OrdersLinkProps) {
  if (!withCancelled)
    return (
      <Link to="/orders" search={{ placedFrom: from, placedTo: to }}>
        {children}
      </Link>
    );
  const period = { from: startOf(from), to: to && startOf(to, 1) };
  return (
    <Link to="/activity" search={{ type: 'order.placed', ...period }}>
      {children}
    </Link>
  );
}
