import type { Order, Pet } from '@petstore/client';
import { Link } from '@tanstack/react-router';
import { useSession } from '../../app/session.ts';
import type { Activity } from '../../data/activity.ts';
import { Time } from '../../kit/time.tsx';
import { HistoryList } from '../activity/history-part.tsx';
import { OrderMenu } from '../orders/order-menu.tsx';

interface AnimalRecordProps {
  pet: Pet;
  orders: readonly Order[] | undefined;
  changes: readonly Activity[] | undefined;
  onChanged: () => void;
}

/** What happens with an animal, as far as the key may read it. All of it appears together, in a place that is there before. */
export function AnimalRecord({ pet, orders, changes, onChanged }: AnimalRecordProps) {
  const { can } = useSession();
  const isRead = (!can('orders:read') || orders) && (!can('events:read') || changes);
  if (!can('orders:read') && !can('events:read')) return null;
  return (
    <div className="animal-records">
      {isRead && orders && <OpenOrders pet={pet} orders={orders} onChanged={onChanged} />}
      {isRead && changes && (
        <HistoryList subject={`pets/${pet.id}`} changes={changes} onChanged={onChanged} />
      )}
    </div>
  );
}

interface OpenOrdersProps {
  pet: Pet;
  orders: readonly Order[];
  onChanged: () => void;
}

/** The open orders of an animal. Each can be completed or cancelled here. */
function OpenOrders({ pet, orders, onChanged }: OpenOrdersProps) {
  if (orders.length === 0) return null;
  return (
    <section className="panel-part animal-record" aria-label="Open orders">
      <h3>
        <Link to="/orders" search={{ petId: pet.id, complete: false }}>
          Open orders
        </Link>
      </h3>
      <ul>
        {orders.map(order => (
          <li key={order.id}>
            <Link to="/orders/$orderId" params={{ orderId: String(order.id) }}>
              Order {order.id}
            </Link>
            <small>
              {(order.quantity ?? 1).toLocaleString()} ×{order.shipDate && ', ships '}
              {order.shipDate && <Time at={order.shipDate} isDay />}
            </small>
            <OrderMenu order={order} name={pet.name} hasComplete onDone={onChanged} />
          </li>
        ))}
      </ul>
    </section>
  );
}
