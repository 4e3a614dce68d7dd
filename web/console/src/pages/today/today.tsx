import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useSession } from '../../app/session.ts';
import { actorOf, sentenceOf } from '../../data/activity.ts';
import { startOf } from '../../data/days.ts';
import { LOW, useOverview } from '../../data/overview.ts';
import { statuses } from '../../data/pet-status.ts';
import { Status } from '../../kit/status.tsx';
import { Time } from '../../kit/time.tsx';
import { OpenOrders } from './open-orders.tsx';
import { OrdersPlot } from './orders-plot.tsx';
import './today.css';

/** What the shop looks like now. */
export function Today() {
  const { account, can } = useSession();
  const { today, pets, orders, days, stock, activity } = useOverview();
  return (
    <section className="page today" aria-label="Today">
      <header className="page-header">
        <h1>
          Today{' '}
          <small>
            {new Date(startOf(today)).toLocaleDateString(undefined, {
              weekday: 'long',
              day: 'numeric',
              month: 'long',
            })}
          </small>
        </h1>
      </header>
      <div className="groups">
        {can('pets:read') && (
          <section aria-label="Animals by status">
            <h2>Animals by status</h2>
            <div className="figures">
              {statuses.map((status, i) => (
                <Link key={status} className="figure" to="/animals" search={{ status }}>
                  <strong>{pets?.[i] ?? '–'}</strong>
                  <Status status={status} />
                </Link>
              ))}
            </div>
          </section>
        )}
        {can('orders:read') && <OpenOrders orders={orders} today={today} />}
      </div>
      <div className="cards">
        {can('orders:read') && can('events:read') && <OrdersPlot orders={days} />}
        {can('inventory:read') && (
          <Card
            title={
              <Link {...toLowStock}>
                Low stock <small>{stock?.total}</small>
              </Link>
            }
            label="Low stock"
            empty={
              can('pets:write') && pets?.every(count => count === '0') ? (
                <p>
                  There are no animals yet: <Link to="/categories/new">add a category</Link>, then{' '}
                  <Link to="/animals/new">an animal</Link>, or <Link to="/import">import a CSV file</Link>.
                </p>
              ) : (
                'Every available animal has enough units.'
              )
            }
            items={stock?.items}
          >
            {item => (
              <li key={item.petId}>
                {can('pets:read') ? (
                  <Link to="/animals/$petId" params={{ petId: String(item.petId) }}>
                    {item.name}
                  </Link>
                ) : (
                  <span>{item.name}</span>
                )}
                <span className="units">{item.quantity.toLocaleString()} left</span>
              </li>
            )}
          </Card>
        )}
        {can('events:read') && (
          <Card
            title={<Link to="/activity">Recent activity</Link>}
            label="Recent activity"
            empty="Nothing has happened yet."
            items={activity}
          >
            {some => (
              <li key={some[0].eventId}>
                <Link to="/activity/$eventId" params={{ eventId: some[0].eventId }}>
                  {actorOf(some[0], account.keyId)} {sentenceOf(some)}
                </Link>
                <Time at={some[0].time} />
              </li>
            )}
          </Card>
        )}
      </div>
    </section>
  );
}

/** Every line of the card is in this list. */
const toLowStock = { to: '/stock', search: { status: 'available', quantityBelow: LOW } } as const;

interface CardProps<T> {
  title: ReactNode;
  label: string;
  empty: ReactNode;
  items: readonly T[] | undefined;
  children: (item: T) => ReactNode;
}

function Card<T>({ title, label, empty, items, children }: CardProps<T>) {
  return (
    <section className="card" aria-label={label}>
      <h2>{title}</h2>
      <ul>{items?.length === 0 ? <li>{empty}</li> : items?.map(children)}</ul>
    </section>
  );
}
