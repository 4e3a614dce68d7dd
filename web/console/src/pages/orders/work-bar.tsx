import type { Order } from '@petstore/client';
import { useState } from 'react';
import { useSession } from '../../app/session.ts';
import { reasonAgainstCancellation, reasonAgainstCompletion, stateOf } from '../../data/order-state.ts';
import { isUndoable, type OrderWork, ordersInWords, useOrderWork } from '../../data/use-order-work.ts';
import { Button } from '../../kit/button.tsx';
import { useOneAtATime } from '../../kit/one-at-a-time.ts';
import { Question } from '../../kit/panel.tsx';
import type { SelectAllList } from '../../kit/select-all.tsx';
import { SelectionBar } from '../../kit/selection-bar.tsx';

interface WorkBarProps {
  orders: readonly Order[];
  /** The list that they are selected from. */
  list: SelectAllList<Order> & { gone: ReadonlySet<number> };
  onSelect: (orders: readonly Order[]) => void;
  onClear: () => void;
}

/** What can be done with the selected orders, with how many of them. */
export function WorkBar({ orders, list, onSelect, onClear }: WorkBarProps) {
  const { can } = useSession();
  const work = useOrderWork();
  const [isAsked, setAsked] = useState(false);
  const { isBusy, run: runAlone } = useOneAtATime();
  if (orders.length === 0) return null;
  const left = orders.filter(({ id = 0 }) => !list.gone.has(id));
  const possible = {
    complete: left.filter(order => reasonAgainstCompletion(stateOf(order)) === undefined),
    cancel: left.filter(order => reasonAgainstCancellation(stateOf(order)) === undefined),
  };

  function run(what: OrderWork): void {
    setAsked(false);
    runAlone(async () => {
      const done = await work(possible[what], what);
      if (done.length > 0) onClear();
    });
  }
  const others = orders.length - possible.complete.length;
  return (
    <SelectionBar
      selected={orders}
      list={list}
      note={others > 0 && possible.complete.length > 0 && `${others.toLocaleString()} cannot be completed`}
      onSelect={onSelect}
      onClear={onClear}
    >
      {possible.complete.length > 0 && (
        <Button
          kind="main"
          icon="check"
          disabled={isBusy}
          onClick={() => (isUndoable('complete', can) ? run('complete') : setAsked(true))}
        >
          Complete {possible.complete.length.toLocaleString()}
        </Button>
      )}
      {possible.cancel.length > 0 && (
        <Button kind="danger" disabled={isBusy} onClick={() => run('cancel')}>
          Cancel {possible.cancel.length.toLocaleString()}
        </Button>
      )}
      {isAsked && (
        <Question
          title={`Complete ${ordersInWords(possible.complete)}?`}
          action="Complete"
          kind="main"
          dismissal="Not yet"
          onClose={() => setAsked(false)}
          onConfirm={() => run('complete')}
        >
          <p>You cannot undo this, because your API key cannot change the stock.</p>
        </Question>
      )}
    </SelectionBar>
  );
}
