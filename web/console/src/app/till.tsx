import { useRef, useState } from 'react';
import { useSubmit } from '../data/submit.ts';
import { useCategories } from '../data/use-categories.ts';
import { isSellable, useGoods } from '../data/use-goods.ts';
import { useSell } from '../data/use-sell.ts';
import { Button } from '../kit/button.tsx';
import { ComboBox } from '../kit/combo-box.tsx';
import { Field, TextField } from '../kit/field.tsx';
import { Panel } from '../kit/panel.tsx';
import { statusNames } from '../kit/status-names.ts';

/** Sells: a part of a name, Enter, the number of units, Enter. */
export function Till({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState<string>();
  const [pet, setPet] = useState<{ id: number; name: string; facts: string }>();
  const [units, setUnits] = useState('1');
  const unitsField = useRef<HTMLInputElement>(null);
  const { goods, found } = useGoods(text);
  const categories = useCategories();
  const sell = useSell();
  const form = useSubmit(['petId', 'quantity'], async () => {
    if (!pet) return;
    await sell(pet, Number(units));
    onClose();
  });

  function choose(id: number | undefined): void {
    setPet(suggestions.find(suggestion => suggestion.id === id));
    // Who types quickly is in the next field already.
    if (id === undefined || document.activeElement === unitsField.current) return;
    unitsField.current?.focus();
    unitsField.current?.select();
  }

  const suggestions = goods.map(good => {
    const { pet, stock } = good;
    const category = categories.find(({ id }) => id === pet.categoryId)?.name;
    const facts = [category, stock !== undefined && `${stock.toLocaleString()} in stock`, `ID ${pet.id}`];
    return {
      id: pet.id,
      name: pet.name,
      facts: facts.filter(Boolean).join(' · '),
      reason: isSellable(good) ? undefined : `It is ${statusNames[pet.status ?? 'available'].toLowerCase()}`,
    };
  });
  const { fields, general } = form.errors;
  return (
    <Panel title="Sell" kind="question" isTyped onClose={onClose}>
      <form onSubmit={form.submit}>
        <div className="panel-body till">
          <Field label="Animal" error={fields.petId}>
            {control => (
              <>
                <ComboBox
                  {...control}
                  value={pet?.name ?? ''}
                  suggestions={suggestions.map(({ facts, ...suggestion }) => ({
                    ...suggestion,
                    note: <small>{facts}</small>,
                  }))}
                  found={found}
                  empty={text === found ? 'No animal matches' : 'Searching …'}
                  placeholder="A part of its name, or its ID"
                  onSearch={setText}
                  onChoose={choose}
                />
                {/* Animals can have the same name. */}
                {pet && <p className="hint">{pet.facts}</p>}
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
          <Button kind="main" type="submit" disabled={!pet || form.isBusy}>
            Sell
          </Button>
        </footer>
      </form>
    </Panel>
  );
}
