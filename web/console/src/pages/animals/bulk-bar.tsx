import type { Pet } from '@petstore/client';
import { useState } from 'react';
import { Button } from '../../kit/button.tsx';
import { BulkPanel } from './bulk-panel.tsx';

interface BulkBarProps {
  pets: readonly Pet[];
  /** Those that other clients have deleted. */
  gone: ReadonlySet<number>;
  onClear: () => void;
}

/** What can be done with the selected animals. */
export function BulkBar({ pets, gone, onClear }: BulkBarProps) {
  const [isOpen, setOpen] = useState(false);
  if (pets.length === 0 && !isOpen) return null;
  return (
    <section className="selection-bar" aria-label="Selection">
      <p role="status">{pets.length.toLocaleString()} selected</p>
      <Button kind="main" onClick={() => setOpen(true)}>
        Change …
      </Button>
      <Button onClick={onClear}>Clear</Button>
      {isOpen && <BulkPanel pets={pets} gone={gone} onDone={onClear} onClose={() => setOpen(false)} />}
    </section>
  );
}
