import type { ReactNode } from 'react';
import { Button } from './button.tsx';
import { SelectAll, type SelectAllList } from './select-all.tsx';

interface SelectionBarProps<T> {
  selected: readonly T[];
  /** The list that they are selected from. */
  list: SelectAllList<T>;
  /** Why some of them are left out. */
  note?: string | false;
  onSelect: (rows: readonly T[]) => void;
  onClear: () => void;
  /** What can be done with them. */
  children: ReactNode;
}

/** How many rows are selected, and what can be done with them. */
export function SelectionBar<T>({ selected, list, note, onSelect, onClear, children }: SelectionBarProps<T>) {
  return (
    <section className="selection-bar" aria-label="Selection">
      <p role="status">
        {selected.length.toLocaleString()} selected
        {note && <small>{note}</small>}
      </p>
      <SelectAll list={list} count={selected.length} onSelect={onSelect} />
      {children}
      <Button onClick={onClear}>Clear</Button>
    </section>
  );
}
