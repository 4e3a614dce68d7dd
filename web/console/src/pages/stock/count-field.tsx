import type { InventoryItem } from '@petstore/client';
import { type KeyboardEvent, useState } from 'react';
import { storeDraft, storedDraft } from '../../data/draft.ts';
import { useCount } from '../../data/use-count.ts';
import { Icon } from '../../kit/icon.tsx';
import { showProblem } from '../../kit/toasts.ts';

interface CountFieldProps {
  item: InventoryItem;
  /** The name of the animal. */
  name: string;
  /** The animals that were counted since the count began. */
  counted: Set<number>;
}

/** Takes what was counted of an animal. Enter saves it and leads to the next row, so that numbers are typed down the column. */
export function CountField({ item: { petId, quantity }, name, counted }: CountFieldProps) {
  const draft = `count.${petId}`;
  const [text, setText] = useState(() => storedDraft<{ text: string }>(draft)?.text ?? '');
  const [isDone, setDone] = useState(() => counted.has(petId));
  const count = useCount();

  function type(text: string): void {
    setText(text);
    storeDraft(draft, text === '' ? undefined : { text });
  }

  function save(): void {
    if (text === '') return;
    count(petId, name, Number(text)).then(() => {
      counted.add(petId);
      setDone(true);
      type('');
    }, showProblem);
  }

  function onKey(event: KeyboardEvent<HTMLInputElement>): void {
    // The keys of the table move between rows as well, but not to the field.
    event.stopPropagation();
    const step = { Enter: 1, ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    if (event.key === 'Enter') save();
    const index = Number(event.currentTarget.closest<HTMLElement>('[data-index]')?.dataset.index);
    const next = document.querySelector<HTMLInputElement>(`[data-index="${index + step}"] .count input`);
    next?.focus();
    next?.select();
  }

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only keeps clicks from opening the row around it
    // biome-ignore lint/a11y/useKeyWithClickEvents: as above
    <span className="count" data-done={isDone || undefined} onClick={event => event.stopPropagation()}>
      <input
        type="number"
        inputMode="numeric"
        min={0}
        aria-label={`Counted of ${name}`}
        placeholder={String(quantity)}
        value={text}
        onChange={({ target }) => type(target.value)}
        onKeyDown={onKey}
      />
      {isDone && <Icon name="check" />}
    </span>
  );
}
