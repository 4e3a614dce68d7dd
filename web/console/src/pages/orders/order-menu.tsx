import type { Order } from '@petstore/client';
import { useState } from 'react';
import { useSession } from '../../app/session.ts';
import {
  isOverdue,
  type OrderState,
  reasonAgainstCancellation,
  reasonAgainstCompletion,
  stateOf,
} from '../../data/order-state.ts';
import { useDay } from '../../data/use-day.ts';
import { isUndoable, type OrderWork, useOrderWork } from '../../data/use-order-work.ts';
import { Icon } from '../../kit/icon.tsx';
import { Menu } from '../../kit/menu.tsx';
import { Question } from '../../kit/panel.tsx';

const stateNames: Record<OrderState, string> = { draft: 'Draft', open: 'Open', complete: 'Completed' };

interface OrderMenuProps {
  order: Order;
  /** The name of its animal. */
  name: string;
  /** Is called when the order was cancelled. */
  onCancelled?: () => void;
}

/** The state of an order. For keys that may write, it is the button of a menu that completes and cancels the order. */
export function OrderMenu({ order, name, onCancelled }: OrderMenuProps) {
  const { can } = useSession();
  const work = useOrderWork();
  const today = useDay();
  const [isAsked, setAsked] = useState(false);
  const state = stateOf(order);
  const isLate = isOverdue(order, today);
  const stateName = isLate ? 'Overdue' : stateNames[state];
  const badge = (
    <span className="status" data-status={isLate ? 'overdue' : state}>
      {stateName}
    </span>
  );
  if (!can('orders:write')) return badge;

  function run(what: OrderWork): void {
    setAsked(false);
    void work([order], what).then(([done]) => done && what === 'cancel' && onCancelled?.());
  }

  return (
    <>
      <Menu
        label={`Status of order ${order.id}: ${stateName}`}
        items={[
          {
            label: 'Complete',
            icon: 'check',
            reason: reasonAgainstCompletion(state),
            onChoose: () => (isUndoable('complete', can) ? run('complete') : setAsked(true)),
          },
          {
            label: 'Cancel the order',
            icon: 'close',
            reason: reasonAgainstCancellation(state),
            onChoose: () => run('cancel'),
          },
        ]}
      >
        {badge}
        <Icon name="down" />
      </Menu>
      {isAsked && (
        <Question
          title={`Complete order ${order.id}?`}
          action="Complete"
          kind="main"
          dismissal="Not yet"
          onClose={() => setAsked(false)}
          onConfirm={() => run('complete')}
        >
          <p>
            {`${order.quantity} × ${name} leaves the shop. You cannot undo this, because your API key cannot change the stock.`}
          </p>
        </Question>
      )}
    </>
  );
}
