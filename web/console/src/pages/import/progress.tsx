import { Link } from '@tanstack/react-router';
import type { CsvFile } from '../../data/import/csv.ts';
import { faultyOf, type ImportProgress } from '../../data/import/run.ts';
import type { UndoProgress } from '../../data/import/undo.ts';
import type { useImport } from '../../data/import/use-import.ts';
import { Button } from '../../kit/button.tsx';
import { inWords } from '../../kit/in-words.ts';
import { Download } from './download.tsx';
import { unknownRows } from './unknown-rows.ts';

/** The most entries of a list that the page shows. The file to download has all rows. */
const SHOWN = 100;

interface ProgressProps {
  file: CsvFile;
  progress: ImportProgress;
  current: ReturnType<typeof useImport>;
}

/** What became of the rows, and the way back. */
export function Progress({ file, progress, current: { stop, undo, undone, isKept } }: ProgressProps) {
  const { total, done, created, rejected, incomplete, isRunning } = progress;
  if (undone) return <Undone progress={undone} />;
  const faulty = faultyOf(rejected);
  const left = rejected.length - faulty.length;
  return (
    <>
      <progress aria-label="Progress" max={total} value={done} />
      <p role="status">
        {isRunning
          ? `${done.toLocaleString()} of ${inWords(total, 'row')} done. If the import reaches the limit of the API key, it waits, and continues by itself.`
          : `Created ${inWords(created.length, 'animal')}, rejected ${inWords(faulty.length, 'row')}.`}
        {!isRunning &&
          left > 0 &&
          ` ${inWords(left, 'row')} ${left === 1 ? 'was' : 'were'} not imported, because you stopped the import.`}
      </p>
      <div className="import-actions">
        {isRunning ? (
          <Button onClick={stop}>Stop</Button>
        ) : (
          <>
            <Link className="button" data-kind="main" to="/animals" search={{ sort: '-id' }}>
              Show the animals
            </Link>
            {undo && <Button onClick={undo}>Undo the import</Button>}
            <Download file={file} rows={rejected} />
          </>
        )}
      </div>
      {undo && !isKept && (
        <p className="hint">
          This import is so large that it cannot be undone after the page was loaded again.
        </p>
      )}
      <Problems
        title="Created without their stock"
        problems={incomplete.map(({ row, message }) => ({ name: `Line ${row.line}`, message }))}
      />
      <Problems
        title="Rejected"
        problems={faulty.map(({ row, message }) => ({ name: `Line ${row.line}`, message }))}
      />
    </>
  );
}

/** What became of undoing an import. */
export function Undone({ progress }: { progress: UndoProgress }) {
  const { total, done, deleted, unknown, kept, isRunning } = progress;
  return (
    <>
      <progress aria-label="Progress" max={total} value={done} />
      <p role="status">
        {isRunning
          ? `Undoing the import: ${done.toLocaleString()} of ${inWords(total, 'animal')} done.`
          : kept.length > 0
            ? `Deleted ${inWords(deleted, 'animal')} of the import. What is listed below stays.`
            : unknown > 0
              ? `Deleted ${inWords(deleted, 'animal')} of the import.`
              : 'Deleted all animals of the import.'}
        {unknown > 0 && ` ${unknownRows(unknown)}`}
      </p>
      <Problems title="Not undone" problems={kept} />
    </>
  );
}

function Problems({ title, problems }: { title: string; problems: UndoProgress['kept'] }) {
  if (problems.length === 0) return null;
  return (
    <section className="import-problems" aria-label={title}>
      <h2>
        {title}: {problems.length.toLocaleString()}
      </h2>
      <ul>
        {problems.slice(0, SHOWN).map(({ name, message }, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: entries are only added at the end, and names can repeat
          <li key={i}>
            <strong>{name}</strong> {message}
          </li>
        ))}
        {problems.length > SHOWN && <li>… and {(problems.length - SHOWN).toLocaleString()} more</li>}
      </ul>
    </section>
  );
}
