import type { InventoryItem } from '@petstore/client';
import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { useSession } from '../../app/session.ts';
import { useDraft } from '../../data/draft.ts';
import { useEdit } from '../../data/edits.ts';
import { endsHold } from '../../data/hold.ts';
import { stock } from '../../data/stock.ts';
import { useSubmit } from '../../data/submit.ts';
import { useAdjustStock, type Why } from '../../data/use-adjust-stock.ts';
import { Button } from '../../kit/button.tsx';
import { Choices } from '../../kit/choices.tsx';
import { SelectField, TextField } from '../../kit/field.tsx';
import { useWhileShown } from '../../kit/is-shown.ts';
import { RestoredNote } from '../../kit/restored-note.tsx';
import { holdWarning } from './hold-question.tsx';

const ways = ['Set to', 'Add', 'Remove'] as const;
export type Way = (typeof ways)[number];

type Reason = NonNullable<Why['reason']>;

/** The reasons for each way, with their titles. */
const reasons: Record<Way, Partial<Record<Reason, string>>> = {
  'Set to': {},
  Add: { received: 'Received', returned: 'Returned', corrected: 'Correction' },
  Remove: { damaged: 'Damaged', lost: 'Lost', sold: 'Sold', corrected: 'Correction' },
};

interface StockEditorProps {
  item: InventoryItem;
  /** The name of the animal. */
  name: string;
  /** What it offers first. */
  way?: Way | undefined;
  onClose: () => void;
}

/** Sets the stock of an animal, or adds and removes units. What was typed is kept when it closes. */
export function StockEditor({ item, name, way: firstWay = 'Set to', onClose }: StockEditorProps) {
  const { petId } = item;
  const { petId: opened } = useParams({ strict: false });
  const { edit, set, conflictOn, discard, save, isRestored } = useEdit(stock, petId, item);
  const [unused] = useState(() => unusedWith(firstWay));
  const [adjustment, setDraft, , , finish] = useDraft(`adjustment.${petId}`, unused);
  const { way, units, reason, note } = adjustment;
  const adjust = useAdjustStock();
  const close = useWhileShown(onClose);
  const isSet = way === 'Set to';
  const quantity = edit?.draft.quantity;
  const { can } = useSession();
  const [isAsked, setAsked] = useState(false);

  // Without the scope for animals the hold could not be restored by undo.
  const next = isSet ? quantity : item.quantity - (way === 'Remove' ? Number(units) : 0);
  const asksFirst = next !== undefined && endsHold(item, next) && !can('pets:write');

  const form = useSubmit(['quantity', 'delta', 'note'], async () => {
    if (asksFirst && !isAsked) return setAsked(true);
    setAsked(false);
    if (isSet) {
      if (!(await save(`${name}: ${quantity?.toLocaleString()} in stock`, asksFirst ? false : undefined)))
        return;
    } else {
      const delta = way === 'Add' ? Number(units) : -Number(units);
      await adjust(item, name, delta, !asksFirst, {
        ...(reason !== '' && { reason: reason as Reason }),
        ...(note.trim() !== '' && { note: note.trim() }),
      });
    }
    if (finish(adjustment)) close();
  });
  const { fields, general } = form.errors;

  return (
    <form onSubmit={form.submit}>
      <h3>
        {opened === String(petId) ? (
          name
        ) : (
          <Link to="/animals/$petId" params={{ petId: String(petId) }}>
            {name}
          </Link>
        )}
      </h3>
      <Choices
        label="Change"
        choices={ways.map(value => ({ value, title: value }))}
        chosen={way}
        onChoose={choice => {
          setDraft('way', choice);
          // Each way has its own reasons.
          setDraft('reason', usualReason(choice));
        }}
      />
      <TextField
        key={way}
        label={isSet ? 'Units in stock' : `Units to ${way.toLowerCase()}`}
        type="number"
        inputMode="numeric"
        step="any"
        min={isSet ? undefined : 1}
        required
        autoFocus
        value={isSet ? numberOf(quantity) : units}
        error={fields.quantity ?? fields.delta ?? general}
        conflict={isSet ? conflictOn('quantity', units => units) : undefined}
        onChange={({ target }) =>
          isSet ? set('quantity', target.valueAsNumber) : setDraft('units', target.value)
        }
      />
      {!isSet && (
        <>
          <SelectField label="Why" value={reason} onChange={({ target }) => setDraft('reason', target.value)}>
            <option value="">No reason</option>
            {Object.entries(reasons[way]).map(([value, title]) => (
              <option key={value} value={value}>
                {title}
              </option>
            ))}
          </SelectField>
          <TextField
            label="Note"
            maxLength={200}
            value={note}
            error={fields.note}
            onChange={({ target }) => setDraft('note', target.value)}
          />
        </>
      )}
      {isAsked && asksFirst && (
        <p className="hint" role="alert">
          {holdWarning(name)}
        </p>
      )}
      {isSet && isRestored && <RestoredNote onDiscard={discard} />}
      <footer>
        <Button onClick={onClose}>Close</Button>
        <Button kind="main" type="submit" disabled={form.isBusy}>
          {isAsked && asksFirst ? 'End the hold' : form.isBusy ? 'Save …' : 'Save'}
        </Button>
      </footer>
    </form>
  );
}

function unusedWith(way: Way): { way: Way; units: string; reason: string; note: string } {
  return { way, units: '', reason: usualReason(way), note: '' };
}

const usualReason = (way: Way): string => (way === 'Add' ? 'received' : '');

/** An emptied field is not a number, and is stored as null. */
function numberOf(quantity: number | null | undefined): number | '' {
  return Number.isFinite(quantity) ? (quantity ?? '') : '';
}
