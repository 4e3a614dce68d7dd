import type { InventoryItem, Pet } from '@petstore/client';
import { useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { useSession } from '../../app/session.ts';
import { useActions } from '../../data/changes.ts';
import { orders } from '../../data/orders.ts';
import { reasonAgainstSale } from '../../data/pet-status.ts';
import { withReason } from '../../data/refusal.ts';
import { useSubmit } from '../../data/submit.ts';
import { useAdjustStock } from '../../data/use-adjust-stock.ts';
import { useSell } from '../../data/use-sell.ts';
import { Button } from '../../kit/button.tsx';
import { TextField } from '../../kit/field.tsx';
import { Stepper } from '../stock/stepper.tsx';

interface AnimalStockProps {
  pet: Pet;
  /** `undefined` until it is read: everything has its place already. */
  item: InventoryItem | undefined;
  /** Is called after each change: a key without events does not see it otherwise. */
  onChanged: () => void;
}

/** The units of an animal, and what a shop does with them: sell, reserve and restock. */
export function AnimalStock({ pet: { id, name }, item, onChanged }: AnimalStockProps) {
  const session = useSession();
  const { can } = session;
  const { create } = useActions(orders);
  const adjust = useAdjustStock();
  const sell = useSell();
  const [text, setText] = useState('1');
  const unitsField = useRef<HTMLInputElement>(null);
  const units = Number(text);
  const goods = `${units.toLocaleString()} of ${name}`;

  const canSell = can('orders:write');
  const canAdjust = can('inventory:write');
  // Enter does the first of what the key may do.
  const form = useSubmit(['quantity', 'delta'], () => (canSell ? sellUnits() : restock()));

  async function sellUnits(): Promise<void> {
    await sell({ id, name }, units);
    finish();
  }

  function finish(): void {
    onChanged();
    // What the user has typed since it was sent stays.
    if (unitsField.current?.value !== text) return;
    flushSync(() => setText('1'));
    // The next number that is typed replaces it.
    if (document.activeElement === unitsField.current) unitsField.current?.select();
  }

  async function reserve(): Promise<void> {
    await withReason(
      session,
      id,
      create({ petId: id, quantity: units }, order => `Reserved ${goods} with order ${order.id}`),
    );
    finish();
  }

  async function restock(): Promise<void> {
    if (!item) return;
    await adjust(item, name, units, true, { reason: 'received' });
    finish();
  }

  const isReady = !form.isBusy && item !== undefined && units >= 1;
  const stock = item?.quantity ?? 0;
  const reason = item && reasonAgainstSale(item.status, stock);
  const isSellable = isReady && reason === undefined && units <= stock;
  const { fields, general } = form.errors;
  return (
    <section className="animal-stock" aria-label="Stock">
      <div className="animal-units">
        <span className="field-label">In stock</span>
        {canAdjust ? (
          <Stepper item={item} name={name} onChanged={onChanged} />
        ) : (
          <strong>{item ? stock.toLocaleString() : '…'}</strong>
        )}
      </div>
      {(canAdjust || canSell) && (
        <form onSubmit={form.submit}>
          <TextField
            ref={unitsField}
            label="Units"
            type="number"
            inputMode="numeric"
            min={1}
            required
            value={text}
            error={fields.quantity ?? fields.delta ?? general}
            onChange={event => setText(event.target.value)}
          />
          <div className="panel-actions">
            {canSell && (
              <>
                {/* With the right to change the animal, the main button is that of the form below. */}
                <Button kind={can('pets:write') ? 'plain' : 'main'} type="submit" disabled={!isSellable}>
                  Sell
                </Button>
                <Button disabled={!isSellable} onClick={() => form.run(reserve)}>
                  Reserve
                </Button>
              </>
            )}
            {canAdjust && (
              <Button
                type={canSell ? 'button' : 'submit'}
                disabled={!isReady}
                onClick={canSell ? () => form.run(restock) : undefined}
              >
                Restock
              </Button>
            )}
          </div>
          {canSell && reason && <p className="hint">{reason}</p>}
        </form>
      )}
    </section>
  );
}
