import type { Pet } from '@petstore/client';
import { type ComponentProps, useState } from 'react';
import { Button } from '../../kit/button.tsx';
import { SelectAll } from '../../kit/select-all.tsx';
import { BulkPanel } from './bulk-panel.tsx';

interface BulkBarProps {
  pets: readonly Pet[];
  /** The list that they are selected from. */
  list: ComponentProps<typeof SelectAll<Pet>>['list'] & { gone: ReadonlySet<number> };
  onSelect: (pets: readonly Pet[]) => void;
  onClear: () => void;
}

/** What can be done with the selected animals. */
export function BulkBar({ pets, list, onSelect, onClear }: BulkBarProps) {
  const [isOpen, setOpen] = useState(false);
  if (pets.length === 0 && !isOpen) return null;
  return (
    <section className="selection-bar" aria-label="Selection">
      <p role="status">{pets.length.toLocaleString()} selected</p>
      <SelectAll list={list} count={pets.length} onSelect={onSelect} />
      <Button kind="main" onClick={() => setOpen(true)}>
        Change …
      </Button>
      <Button onClick={onClear}>Clear</Button>
      {isOpen && <BulkPanel pets={pets} gone={list.gone} onDone={onClear} onClose={() => setOpen(false)} />}
    </section>
  );
}
