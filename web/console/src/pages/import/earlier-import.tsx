import { Link } from '@tanstack/react-router';
import type { Journal } from '../../data/import/journal.ts';
import { Button } from '../../kit/button.tsx';
import { inWords } from '../../kit/in-words.ts';
import { unknownRows } from './unknown-rows.ts';

interface EarlierImportProps {
  journal: Journal;
  onUndo: () => void;
}

/** What the last import has created before the page was loaded again, and how to continue or undo it. */
export function EarlierImport({ journal, onUndo }: EarlierImportProps) {
  const { file, total, done, sending, created } = journal;
  const isInterrupted = done < total;
  return (
    <section className="import-rows" aria-labelledby="earlier-import">
      <h2 id="earlier-import">Last import: {file}</h2>
      <p>
        {isInterrupted
          ? `It was interrupted after ${done.toLocaleString()} of ${inWords(total, 'row')} and has created ${inWords(created.length, 'animal')}. To import the rest, choose the file again: animals that exist are skipped.`
          : `It has created ${inWords(created.length, 'animal')}.`}
        {sending > 0 && ` ${unknownRows(sending)}`}
      </p>
      <div className="import-actions">
        <Link className="button" to="/animals" search={{ sort: '-id' }}>
          Show the animals
        </Link>
        <Button onClick={onUndo}>Undo the import</Button>
      </div>
    </section>
  );
}
