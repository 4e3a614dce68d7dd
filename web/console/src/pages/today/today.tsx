import type { Event, InventoryItem } from '@petstore/client';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useMemo } from 'react';
import { useSession } from '../../app/session.ts';
import { startOf } from '../../data/days.ts';
import { LOW, useOverview } from '../../data/overview.ts';
import { nameOf, usePetNames } from '../../data/pet-names.ts';
import { statuses } from '../../data/pet-status.ts';
import { Status } from '../../kit/status.tsx';
import { Time } from '../../kit/time.tsx';
import { OpenOrders } from './open-orders.tsx';
import { OrdersPlot } from './orders-plot.tsx';
import './today.css';

/** What the shop looks like now. */
export function Today() {
  const { can } = useSession();
  const { today, pets, orders, days, stock, events } = useOverview();
  const names = usePetNames(useMemo(() => events?.map(petOf) ?? [], [events]));
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
            title={<Link to="/events">Recent events</Link>}
            label="Recent events"
            empty="Nothing has happened yet."
            items={events}
          >
            {event => (
              <li key={event.id}>
                <Link to="/events/$eventId" params={{ eventId: event.id }}>
                  {textOf(event, names)}
                </Link>
                <Time at={event.time} />
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

/** The animal of an event about stock. Other events have the name of their subject, or none. */
function petOf({ type, data }: Event): number | undefined {
  return type.startsWith('inventory.') ? (data as InventoryItem).petId : undefined;
}

/** `Luna the Border Collie updated`, `Neon Tetra: stock adjusted`, `Order 12 placed` */
function textOf(event: Event, names: ReturnType<typeof usePetNames>): string {
  const { type, subject, data } = event;
  const change = type.split('.')[1]?.replaceAll('_', ' ');
  if (type === 'log.restored') return 'Restored from a backup';
  const petId = petOf(event);
  if (petId !== undefined) return `${nameOf(names, petId)}: stock ${change}`;
  const [resource = '', id] = subject.split('/').slice(-2);
  const kind =
    resource === 'categories'
      ? 'Category'
      : resource.replace(/^./, letter => letter.toUpperCase()).replace(/s$/, '');
  const name = data && 'name' in data && typeof data.name === 'string' ? data.name : `${kind} ${id}`;
  return `${name} ${change}`;
}
