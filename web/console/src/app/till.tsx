import type { Pet } from '@petstore/client';
import { useLayoutEffect, useRef, useState } from 'react';
import { reasonAgainstSale } from '../data/pet-status.ts';
import { useSubmit } from '../data/submit.ts';
import { useCategories } from '../data/use-categories.ts';
import { useGoods } from '../data/use-goods.ts';
import { useSell } from '../data/use-sell.ts';
import { Button } from '../kit/button.tsx';
import { ComboBox } from '../kit/combo-box.tsx';
import { Field, TextField } from '../kit/field.tsx';
import { useWhileShown } from '../kit/is-shown.ts';
import { Panel } from '../kit/panel.tsx';

/** Sells: a part of a name, Enter, the number of units, Enter. */
export function Till({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState<string>();
  const [chosen, setChosen] = useState<Pet>();
  const [units, setUnits] = useState('1');
  const unitsField = useRef<HTMLInputElement>(null);
  /** Whether the user has changed the form since it was sent. */
  const isChanged = useRef(false);
  const close = useWhileShown(onClose);
  const { goods, stockOf, found, error } = useGoods(text);
  const categories = useCategories();
  const sell = useSell();
  const form = useSubmit(['petId', 'quantity'], async () => {
    if (!chosen) return;
    isChanged.current = false;
    await sell(chosen, Number(units));
    if (!isChanged.current) close();
  });

  // Not before the choice is drawn: until then the form cannot be sent, and Enter would be lost.
  useLayoutEffect(() => {
    // Who types quickly is in the field already.
    if (chosen && document.activeElement !== unitsField.current) unitsField.current?.focus();
  }, [chosen]);

  function onChange(): void {
    isChanged.current = true;
  }

  function choose(id: number | undefined): void {
    onChange();
    // The reason of a rejection is about the animal before.
    form.forget();
    const pet = goods.find(pet => pet.id === id);
    setChosen(pet && { ...pet });
  }

  function factsOf({ id, categoryId }: Pet): string {
    const category = categories.find(({ id }) => id === categoryId)?.name;
    const stock = stockOf.get(id)?.quantity;
    return [category, stock !== undefined && `${stock.toLocaleString()} in stock`, `ID ${id}`]
      .filter(Boolean)
      .join(' · ');
  }

  function reasonOf({ id, status = 'available' }: Pet): string | undefined {
    const item = stockOf.get(id);
    return reasonAgainstSale(item?.status ?? status, item?.quantity);
  }

  const { fields, general } = form.errors;
  return (
    <Panel title="Sell" kind="question" isTyped onClose={onClose}>
      <form onSubmit={form.submit} onChange={onChange}>
        <div className="panel-body till">
          <Field label="Animal" error={chosen ? (reasonOf(chosen) ?? fields.petId) : undefined}>
            {control => (
              <>
                <ComboBox
                  {...control}
                  value={chosen?.name ?? ''}
                  suggestions={goods.map(pet => ({
                    id: pet.id,
                    name: pet.name,
                    note: <small>{factsOf(pet)}</small>,
                    reason: reasonOf(pet),
                  }))}
                  found={found}
                  empty={error?.message ?? (text === found ? 'No animal matches' : 'Searching …')}
                  placeholder="A part of its name, or its ID"
                  onSearch={setText}
                  onChoose={choose}
                />
                {/* Animals can have the same name. */}
                {chosen && <p className="hint">{factsOf(chosen)}</p>}
              </>
            )}
          </Field>
          <TextField
            ref={unitsField}
            label="Units"
            type="number"
            inputMode="numeric"
            min={1}
            required
            value={units}
            error={fields.quantity ?? general}
            onChange={event => setUnits(event.target.value)}
          />
        </div>
        <footer className="panel-footer">
          <Button onClick={onClose}>Close</Button>
          <Button
            kind="main"
            type="submit"
            disabled={!chosen || reasonOf(chosen) !== undefined || form.isBusy}
          >
            {form.isBusy ? 'Sell …' : 'Sell'}
          </Button>
        </footer>
      </form>
    </Panel>
  );
}
