import { useDraft } from '../../data/draft.ts';
import { LOW, thresholds } from '../../data/low-stock.ts';
import { useSubmit } from '../../data/submit.ts';
import { useCategories } from '../../data/use-categories.ts';
import { TextField } from '../../kit/field.tsx';
import { FormPanel } from '../../kit/form-panel.tsx';
import './thresholds.css';

/** What the user has typed, by the ID of the category; `undefined` where it is what is stored. */
const nothingTyped: Readonly<Record<string, string | undefined>> = {};

/** Sets below how many units the stock of an animal is low, for each category. */
export function Thresholds({ onClose }: { onClose: () => void }) {
  const categories = useCategories();
  const stored = thresholds.use();
  const [typed, setTyped, clear, isRestored] = useDraft('thresholds', nothingTyped);
  const storedText = (id: number) => String(stored[id] ?? '');
  const form = useSubmit([], async () => {
    // Those of now: another tab may have stored others.
    const now = thresholds.read();
    const all = Object.entries({ ...now, ...typed }).map(
      ([id, units = now[Number(id)]]) => [id, units] as const,
    );
    const others = all.filter(([, units]) => units !== undefined && units !== '' && Number(units) !== LOW);
    thresholds.write(Object.fromEntries(others.map(([id, units]) => [id, Number(units)])));
    clear();
    onClose();
  });
  return (
    <FormPanel
      title="When the stock is low"
      form={form}
      action="Save"
      onDiscard={isRestored ? clear : undefined}
      onClose={onClose}
    >
      <p className="hint">
        Today lists animals with fewer units than this, if they have had more than one. With 0 a category is
        left out. The numbers are kept in this browser.
      </p>
      <div className="thresholds">
        {categories.map(({ id, name }) => (
          <TextField
            key={id}
            label={name}
            type="number"
            inputMode="numeric"
            min={0}
            placeholder={String(LOW)}
            value={typed[id] ?? storedText(id)}
            onChange={({ target: { value } }) =>
              setTyped(String(id), value === storedText(id) ? undefined : value)
            }
          />
        ))}
      </div>
    </FormPanel>
  );
}
