import type { InventoryItem } from '@petstore/client';
import { type KeyboardEvent, useRef, useState } from 'react';
import { useSession } from '../../app/session.ts';
import { countDrafts, storeDraft, storedDraft } from '../../data/draft.ts';
import { endsHold } from '../../data/hold.ts';
import { useCount } from '../../data/use-count.ts';
import { askingToLeave } from '../../kit/asking-to-leave.ts';
import { selectAll } from '../../kit/field.tsx';
import { Icon } from '../../kit/icon.tsx';
import { useToasts } from '../../kit/toasts.ts';
import { HoldQuestion } from './hold-question.tsx';

/** The most units of an animal. */
const MOST_UNITS = 2 ** 31 - 1;

const DRAFT = 'count.';
/** The drafts of the numbers that are being saved. */
const beingSaved = new Set<string>();

/** How many numbers were typed and are not saved: they were rejected, or their fields not left since the page was loaded. */
export function countUnsaved(): number {
  return countDrafts(DRAFT, beingSaved);
}

interface CountFieldProps {
  item: InventoryItem;
  /** The name of the animal. */
  name: string;
  /** The animals that were counted since the count began. */
  counted: Set<number>;
}

/**
 * Takes what was counted of an animal, and saves it when the user leaves the field. Enter leads to the next row, so that numbers are
 * typed down the column, but not past what is no number of units.
 */
export function CountField({ item, name, counted }: CountFieldProps) {
  const { petId, quantity } = item;
  const draft = `${DRAFT}${petId}`;
  const [text, setText] = useState(() => storedDraft<{ text: string }>(draft)?.text ?? '');
  const [state, setState] = useState<'done' | 'failed' | undefined>(counted.has(petId) ? 'done' : undefined);
  /** What is being saved: the user can leave the field again before the response arrives. */
  const saving = useRef<string>(undefined);
  /** Ends when all numbers before are saved: the last one counts. */
  const saved = useRef(Promise.resolve());
  const [isAsked, setAsked] = useState(false);
  const { can } = useSession();
  const count = useCount();
  const toasts = useToasts();

  function type(text: string): void {
    setText(text);
    storeDraft(draft, text === '' ? undefined : { text });
  }

  function leave({ validity }: HTMLInputElement): void {
    if (text === '' || text === saving.current || !validity.valid) return;
    if (endsHold(item, Number(text)) && !can('pets:write')) setAsked(true);
    else save();
  }

  function save(): void {
    saving.current = text;
    beingSaved.add(draft);
    saved.current = saved.current
      .then(() => askingToLeave(() => count(petId, name, Number(text))))
      .then(
        () => {
          counted.add(petId);
          setState('done');
          // Otherwise the user has typed more since.
          if (storedDraft<{ text: string }>(draft)?.text === text) type('');
        },
        error => {
          setState('failed');
          toasts.show({ tone: 'problem', text: `${name} was not counted. ${(error as Error).message}` });
        },
      )
      .finally(() => {
        if (saving.current !== text) return;
        saving.current = undefined;
        beingSaved.delete(draft);
      });
  }

  function onKey(event: KeyboardEvent<HTMLInputElement>): void {
    // Such as those of the palette.
    if (event.ctrlKey || event.metaKey) return;
    // The keys of the table move between rows as well, but not to the field.
    event.stopPropagation();
    // The key belongs to the input method.
    if (event.nativeEvent.isComposing) return;
    const step = { Enter: 1, ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const input = event.currentTarget;
    if (!input.reportValidity()) return;
    const index = Number(input.closest<HTMLElement>('[data-index]')?.dataset.index);
    const next = document.querySelector<HTMLInputElement>(`[data-index="${index + step}"] .count input`);
    if (next) next.focus();
    else leave(input);
  }

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only keeps clicks from opening the row around it
    // biome-ignore lint/a11y/useKeyWithClickEvents: as above
    <span className="count" onClick={event => event.stopPropagation()}>
      <input
        type="number"
        inputMode="numeric"
        min={0}
        max={MOST_UNITS}
        aria-label={`Counted of ${name}`}
        aria-invalid={state === 'failed'}
        placeholder={String(quantity)}
        value={text}
        onChange={({ target }) => type(target.value)}
        onFocus={selectAll}
        onBlur={({ currentTarget }) => leave(currentTarget)}
        onKeyDown={onKey}
      />
      {state === 'done' && <Icon name="check" />}
      {isAsked && <HoldQuestion name={name} onConfirm={save} onClose={() => setAsked(false)} />}
    </span>
  );
}
