import type { Pet } from '@petstore/client';
import { useState } from 'react';
import { Button } from '../../kit/button.tsx';
import { BulkPanel } from './bulk-panel.tsx';

interface BulkBarProps {
  pets: readonly Pet[];
  onClear: () => void;
}

/** What can be done with the selected animals. */
export function BulkBar({ pets, onClear }: BulkBarProps) {
  const [edited, setEdited] = useState<readonly Pet[]>();
  if (pets.length === 0 && !edited) return null;
  return (
    <section className="selection-bar" aria-label="Selection">
      <p role="status">{pets.length.toLocaleString()} selected</p>
      <Button kind="main" onClick={() => setEdited(pets)}>
        Change …
      </Button>
      <Button onClick={onClear}>Clear</Button>
      {edited && <BulkPanel pets={edited} onDone={onClear} onClose={() => setEdited(undefined)} />}
    </section>
  );
}
