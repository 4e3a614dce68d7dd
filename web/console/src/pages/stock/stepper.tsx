import type { InventoryItem } from '@petstore/client';
import { useState } from 'react';
import { useSession } from '../../app/session.ts';
import { endsHold } from '../../data/hold.ts';
import { useAdjustStock } from '../../data/use-adjust-stock.ts';
import { askingToLeave } from '../../kit/asking-to-leave.ts';
import { Button } from '../../kit/button.tsx';
import { useToasts } from '../../kit/toasts.ts';
import { HoldQuestion } from './hold-question.tsx';
import { StockMenu } from './stock-menu.tsx';

interface StepperProps {
  /** `undefined` until it is read: everything has its place already. */
  item: InventoryItem | undefined;
  /** The name of the animal. */
  name: string;
  /** Is called after each change. */
  onChanged?: () => void;
}

/** The stock of an animal, with what adds and removes a unit, and the editor behind the number. */
export function Stepper({ item, name, onChanged }: StepperProps) {
  const { can } = useSession();
  const adjust = useAdjustStock();
  const toasts = useToasts();
  const [isAsked, setAsked] = useState(false);
  function step(delta: number): void {
    if (!item || item.quantity + delta < 0) return;
    // Without the scope for animals the hold could not be restored by undo.
    const asksFirst = endsHold(item, item.quantity + delta) && !can('pets:write');
    if (asksFirst && !isAsked) setAsked(true);
    else askingToLeave(() => adjust(item, name, delta, !asksFirst)).then(onChanged, toasts.showProblem);
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only keeps clicks from opening the row around it
    // biome-ignore lint/a11y/useKeyWithClickEvents: as above
    <span className="stepper" onClick={event => event.stopPropagation()}>
      <Button label={`Remove one ${name}`} disabled={!item?.quantity} onClick={() => step(-1)}>
        −
      </Button>
      {item ? (
        <StockMenu item={item} name={name} {...(onChanged && { onClosed: onChanged })} />
      ) : (
        <strong className="menu-button">…</strong>
      )}
      <Button label={`Add one ${name}`} disabled={!item} onClick={() => step(1)}>
        +
      </Button>
      {isAsked && <HoldQuestion name={name} onConfirm={() => step(-1)} onClose={() => setAsked(false)} />}
    </span>
  );
}
