import { type FormEvent, useState } from 'react';
import { LOW, thresholds } from '../../data/low-stock.ts';
import { useCategories } from '../../data/use-categories.ts';
import { Button } from '../../kit/button.tsx';
import { TextField } from '../../kit/field.tsx';
import { Panel } from '../../kit/panel.tsx';

/** Sets below how many units the stock of an animal is low, for each category. */
export function Thresholds({ onClose }: { onClose: () => void }) {
  const categories = useCategories();
  const [typed, setTyped] = useState<Readonly<Record<string, string>>>(() =>
    Object.fromEntries(Object.entries(thresholds.read()).map(([id, units]) => [id, String(units)])),
  );
  function submit(event: FormEvent): void {
    event.preventDefault();
    const set = Object.entries(typed).filter(([, units]) => units !== '' && Number(units) !== LOW);
    thresholds.write(Object.fromEntries(set.map(([id, units]) => [id, Number(units)])));
    onClose();
  }
  return (
    <Panel title="When the stock is low" onClose={onClose}>
      <form onSubmit={submit}>
        <div className="panel-body">
          <p className="hint">
            Today lists animals with fewer units than this, if they have had more than one. With 0 a category
            is left out. The numbers are kept in this browser.
          </p>
          {categories.map(({ id, name }) => (
            <TextField
              key={id}
              label={name}
              type="number"
              inputMode="numeric"
              min={0}
              placeholder={String(LOW)}
              value={typed[id] ?? ''}
              onChange={({ target }) => setTyped({ ...typed, [id]: target.value })}
            />
          ))}
        </div>
        <footer className="panel-footer">
          <Button onClick={onClose}>Close</Button>
          <Button kind="main" type="submit">
            Save
          </Button>
        </footer>
      </form>
    </Panel>
  );
}
