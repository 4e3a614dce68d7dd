import type { Order } from '@petstore/client';
import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useSession } from '../../app/session.ts';
import type { Day } from '../../data/days.ts';
import { orders as resource } from '../../data/orders.ts';
import type { DueOrders as Due } from '../../data/to-do.ts';
import { useOrderWork } from '../../data/use-order-work.ts';
import { Button } from '../../kit/button.tsx';
import { leadsBack } from '../../kit/close.ts';
import { Icon } from '../../kit/icon.tsx';
import { inWords } from '../../kit/in-words.ts';
import { Time } from '../../kit/time.tsx';
import { Task } from './task.tsx';

interface DueOrdersProps {
  due: Due | undefined;
  isLate: boolean;
  /** Whether its button is the main one of the page. */
  isMain: boolean;
  /** The last day of the orders, and the first one if there is one. */
  from?: Day;
  to: Day;
  nameOf: (petId: number) => string;
}

const { idOf } = resource;

/** Open orders that ship today, or should have been shipped. */
export function DueOrders({ due, isLate, isMain, from, to, nameOf }: DueOrdersProps) {
  const { can } = useSession();
  const cache = useQueryClient();
  const work = useOrderWork();
  /** The IDs of the orders that were or are being completed: the list can be read again meanwhile. */
  const [done, setDone] = useState<ReadonlySet<number>>(new Set());
  /** The orders that undo has placed, by the IDs of those that they replace: they have their lines until the list is read again. */
  const [replaced, setReplaced] = useState<ReadonlyMap<number, Order>>(new Map());
  if (!due || due.orders.length === 0) return null;
  const { total } = due;
  const orders = due.orders.map(order => newestOf(order, replaced));
  const left = orders.filter(order => !done.has(idOf(order)));
  const all = inWords(total.count, 'order', total.hasMore);
  const verbs = isLate ? ['is overdue', 'are overdue'] : ['ships today', 'ship today'];
  const title = `${all} ${verbs[total.count === 1 ? 0 : 1]}`;
  const canComplete = can('orders:write') && can('inventory:write');

  function complete(some: readonly Order[]): void {
    const chosen = new Set(some.map(idOf));
    setDone(done.union(chosen));
    // What the service has rejected is offered again.
    void work(some, 'complete', onUndone).then(completed =>
      setDone(done => done.difference(chosen.difference(new Set(completed.map(idOf))))),
    );
  }

  function onUndone(placed: ReadonlyMap<Order, Order>): void {
    const byId = Array.from(placed, ([order, next]) => [idOf(order), next] as const);
    setReplaced(replaced => new Map([...replaced, ...byId]));
    // The user looks for them: they do not wait for the events.
    void cache.invalidateQueries({ queryKey: ['overview', 'due'] });
  }

  return (
    <Task
      icon={isLate ? 'warning' : 'orders'}
      title={title}
      isLate={isLate}
      items={orders}
      action={
        canComplete &&
        left.length > 1 && (
          <Button kind={isMain ? 'main' : 'plain'} icon="check" onClick={() => complete(left)}>
            Complete {left.length.toLocaleString()}
          </Button>
        )
      }
      all={
        <Link to="/orders" search={{ complete: false, from, to }}>
          Show all {all}
        </Link>
      }
    >
      {order => (
        <li key={order.id}>
          <Link to="/orders/$orderId" params={{ orderId: String(order.id) }} state={leadsBack}>
            {(order.quantity ?? 1).toLocaleString()} × <bdi>{nameOf(order.petId ?? 0)}</bdi>
          </Link>
          <small>
            Order {order.id}
            {isLate && order.shipDate && (
              <>
                , due <Time at={order.shipDate} isDay />
              </>
            )}
          </small>
          {done.has(idOf(order)) ? (
            <span className="done">
              <Icon name="check" /> Completed
            </span>
          ) : (
            canComplete && (
              <Button aria-label={`Complete order ${order.id}`} onClick={() => complete([order])}>
                Complete
              </Button>
            )
          )}
        </li>
      )}
    </Task>
  );
}

/** The order that has replaced an earlier one. Each can be completed and undone again. */
function newestOf(order: Order, replaced: ReadonlyMap<number, Order>): Order {
  const next = replaced.get(idOf(order));
  return next ? newestOf(next, replaced) : order;
}
