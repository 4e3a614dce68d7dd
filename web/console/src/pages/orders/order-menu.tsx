import type { Order } from '@petstore/client';
import { useState } from 'react';
import { useSession } from '../../app/session.ts';
import { useActions } from '../../data/changes.ts';
import {
  type OrderState,
  reasonAgainstCancellation,
  reasonAgainstCompletion,
  stateOf,
} from '../../data/order-state.ts';
import { orders } from '../../data/orders.ts';
import { Icon } from '../../kit/icon.tsx';
import { Menu } from '../../kit/menu.tsx';
import { Question } from '../../kit/panel.tsx';
import { showProblem } from '../../kit/toasts.ts';

const stateNames: Record<OrderState, string> = { draft: 'Draft', open: 'Open', complete: 'Complete' };

function StateBadge({ state }: { state: OrderState }) {
  return (
    <span className="status" data-status={state}>
      {stateNames[state]}
    </span>
  );
}

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
  const { change, remove } = useActions(orders);
  const [asked, setAsked] = useState<'complete' | 'cancel'>();
  const state = stateOf(order);
  const badge = <StateBadge state={state} />;
  if (!can('orders:write')) return badge;
  const title = `order ${order.id}`;
  const units = `${order.quantity} × ${name}`;

  async function run(): Promise<void> {
    setAsked(undefined);
    if (asked === 'complete') {
      await change(order, { complete: true }, { done: `Completed ${title}`, undo: false });
    } else {
      await remove(order, `Cancelled ${title}`);
      onCancelled?.();
    }
  }

  return (
    <>
      <Menu
        label={`Status of ${title}: ${stateNames[state]}`}
        items={[
          {
            label: 'Complete',
            reason: reasonAgainstCompletion(state),
            onChoose: () => setAsked('complete'),
          },
          {
            label: 'Cancel the order',
            reason: reasonAgainstCancellation(state),
            onChoose: () => setAsked('cancel'),
          },
        ]}
      >
        {badge}
        <Icon name="down" />
      </Menu>
      {asked && (
        <Question
          title={`${asked === 'complete' ? 'Complete' : 'Cancel'} ${title}?`}
          action={asked === 'complete' ? 'Complete' : 'Cancel the order'}
          onClose={() => setAsked(undefined)}
          onConfirm={() => run().catch(showProblem)}
        >
          <p>
            {asked === 'complete'
              ? `${units} leaves the shop. You cannot undo this: afterwards only its ship date can change.`
              : state === 'draft'
                ? 'The draft is deleted. You cannot undo this.'
                : `${units} returns to the stock, and the order is deleted. You cannot undo this.`}
          </p>
        </Question>
      )}
    </>
  );
}
