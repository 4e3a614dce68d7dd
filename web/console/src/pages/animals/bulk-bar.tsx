import type { Pet } from '@petstore/client';
import { useState } from 'react';
import { Button } from '../../kit/button.tsx';
import type { SelectAllList } from '../../kit/select-all.tsx';
import { SelectionBar } from '../../kit/selection-bar.tsx';
import { BulkPanel } from './bulk-panel.tsx';

interface BulkBarProps {
  pets: readonly Pet[];
  /** The list that they are selected from. */
  list: SelectAllList<Pet> & { gone: ReadonlySet<number> };
  onSelect: (pets: readonly Pet[]) => void;
  onClear: () => void;
}

/** What can be done with the selected animals. */
export function BulkBar({ pets, list, onSelect, onClear }: BulkBarProps) {
  const [isOpen, setOpen] = useState(false);
  if (pets.length === 0 && !isOpen) return null;
  return (
    <SelectionBar selected={pets} list={list} onSelect={onSelect} onClear={onClear}>
      <Button kind="main" onClick={() => setOpen(true)}>
        Change …
      </Button>
      {isOpen && <BulkPanel pets={pets} gone={list.gone} onDone={onClear} onClose={() => setOpen(false)} />}
    </SelectionBar>
  );
}
