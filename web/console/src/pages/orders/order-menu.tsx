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
import { Button } from '../../kit/button.tsx';
import { Icon } from '../../kit/icon.tsx';
import { Menu } from '../../kit/menu.tsx';
import { useOneAtATime } from '../../kit/one-at-a-time.ts';
import { Question } from '../../kit/panel.tsx';

const stateNames: Record<OrderState, string> = { draft: 'Draft', open: 'Open', complete: 'Completed' };

interface OrderMenuProps {
  order: Order;
  /** The name of its animal. */
  name: string;
  /** Is called when the order was completed or cancelled. */
  onDone?: (what: OrderWork) => void;
}

/** The state of an order, and what can be done with it. `question` is asked before what cannot be undone. */
function useOrderChoices({ order, name, onDone }: OrderMenuProps) {
  const { can } = useSession();
  const work = useOrderWork();
  const oneAtATime = useOneAtATime();
  const today = useDay();
  const [isAsked, setAsked] = useState(false);
  const state = stateOf(order);
  const isLate = isOverdue(order, today);
  const stateName = isLate ? 'Overdue' : stateNames[state];

  function run(what: OrderWork): void {
    setAsked(false);
    oneAtATime.run(async () => {
      const [done] = await work([order], what);
      if (done) onDone?.(what);
    });
  }

  return {
    canChange: can('orders:write'),
    stateName,
    badge: (
      <span className="status" data-status={isLate ? 'overdue' : state}>
        {stateName}
      </span>
    ),
    complete: {
      label: 'Complete',
      icon: 'check' as const,
      reason: reasonAgainstCompletion(state),
      onChoose: () => (isUndoable('complete', can) ? run('complete') : setAsked(true)),
    },
    cancel: {
      label: 'Cancel order',
      icon: 'close' as const,
      reason: reasonAgainstCancellation(state),
      onChoose: () => run('cancel'),
    },
    question: isAsked && (
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
    ),
  };
}

interface OrderMenuButtonProps extends OrderMenuProps {
  /** Whether completion has a button next to the menu. */
  hasComplete?: boolean;
}

/** The state of an order. For keys that may write, it is the button of a menu that completes and cancels the order. */
export function OrderMenu({ hasComplete = false, ...props }: OrderMenuButtonProps) {
  const { canChange, stateName, badge, complete, cancel, question } = useOrderChoices(props);
  if (!canChange) return badge;
  return (
    <>
      <Menu label={`Status of order ${props.order.id}: ${stateName}`} items={[complete, cancel]}>
        {badge}
        <Icon name="down" />
      </Menu>
      {hasComplete && (
        <Button aria-label={`Complete order ${props.order.id}`} onClick={complete.onChoose}>
          Complete
        </Button>
      )}
      {question}
    </>
  );
}

interface OrderStatusProps extends OrderMenuProps {
  /** Whether its completion is the main action of the panel. */
  isMain: boolean;
  /** Whether its form has unsaved changes, which a completion would leave out. */
  isChanged: boolean;
}

/** The state of an order, and a button for each thing that can be done with it. */
export function OrderStatus({ isMain, isChanged, ...props }: OrderStatusProps) {
  const { canChange, badge, complete, cancel, question } = useOrderChoices(props);
  const choices = isChanged ? [cancel] : [complete, cancel];
  const possible = canChange ? choices.filter(({ reason }) => reason === undefined) : [];
  return (
    <div className="order-status">
      {badge}
      {possible.map(choice => (
        <Button
          key={choice.label}
          kind={isMain && choice === complete ? 'main' : 'plain'}
          icon={choice.icon}
          onClick={choice.onChoose}
        >
          {choice.label}
        </Button>
      ))}
      {canChange && isChanged && complete.reason === undefined && (
        <small>Save the changes to complete it</small>
      )}
      {question}
    </div>
  );
}
