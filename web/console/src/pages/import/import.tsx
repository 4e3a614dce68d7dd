import { Link } from '@tanstack/react-router';
import { useEffect } from 'react';
import type { Checked } from '../../data/import/check.ts';
import type { CsvFile } from '../../data/import/csv.ts';
import { type BadRow, rejectedFile } from '../../data/import/rejected.ts';
import type { ImportProgress } from '../../data/import/run.ts';
import { useImport } from '../../data/import/use-import.ts';
import { Button } from '../../kit/button.tsx';
import { Columns } from './columns.tsx';
import { DropZone } from './drop-zone.tsx';
import './import.css';

/** The most rejected rows that the page shows. The file to download has all. */
const SHOWN = 100;

/** Without it, spreadsheet programs do not read a file as UTF-8. */
const BOM = '\uFEFF';

/** Imports animals from a CSV file: choose it, map its columns, see what would be rejected, then write. */
export function Import() {
  const current = useImport();
  const { file, progress, error, notUtf8 } = current;
  useNoOtherDrops();
  return (
    <section className="page import" aria-label="Import">
      <header className="page-header">
        <h1>
          Import <small>{file?.name}</small>
        </h1>
        {file && !progress?.isRunning && <Button onClick={current.reset}>Choose another file</Button>}
      </header>
      <div className="import-body">
        {!file ? (
          <>
            <DropZone reading={current.reading} error={error} onFile={file => current.choose(file)} />
            {notUtf8 && (
              <Button onClick={() => current.choose(notUtf8, 'windows-1252')}>Read it as Windows-1252</Button>
            )}
          </>
        ) : progress ? (
          <Progress file={file} progress={progress} onStop={current.stop} />
        ) : (
          <Preparation file={file} current={current} />
        )}
      </div>
    </section>
  );
}

/** A file that is dropped next to its place would replace the console. */
function useNoOtherDrops(): void {
  useEffect(() => {
    const ignore = (event: DragEvent) => {
      if (event.defaultPrevented) return;
      event.preventDefault();
      if (event.dataTransfer) event.dataTransfer.dropEffect = 'none';
    };
    addEventListener('dragover', ignore);
    addEventListener('drop', ignore);
    return () => {
      removeEventListener('dragover', ignore);
      removeEventListener('drop', ignore);
    };
  }, []);
}

interface PreparationProps {
  file: CsvFile;
  current: ReturnType<typeof useImport>;
}

/** Everything before the first row is written. */
function Preparation({ file, current }: PreparationProps) {
  const { mapping, createsCategories, checked, problem, isChecking } = current;
  return (
    <>
      <Columns file={file} mapping={mapping} onChange={current.setMapping} />
      <label className="check">
        <input
          type="checkbox"
          checked={createsCategories}
          onChange={event => current.setCreatesCategories(event.target.checked)}
        />
        Create categories that are missing
      </label>
      {problem && (
        <p className="field-error" role="alert">
          {problem}
        </p>
      )}
      {isChecking && <p role="status">Checking the rows …</p>}
      {checked && <Result file={file} checked={checked} onImport={() => current.run(checked)} />}
    </>
  );
}

interface ResultProps {
  file: CsvFile;
  checked: Checked;
  onImport: () => void;
}

function Result({ file, checked: { good, bad }, onImport }: ResultProps) {
  return (
    <>
      <p role="status">
        {good.length.toLocaleString()} of {countOf(file.rows.length)} can be imported. Nothing is written yet.
      </p>
      <div className="import-actions">
        <Button kind="main" disabled={good.length === 0} onClick={onImport}>
          Import {countOf(good.length)}
        </Button>
        <Download file={file} rows={bad} />
      </div>
      <BadRows title="Would be rejected" rows={bad} />
    </>
  );
}

interface ProgressProps {
  file: CsvFile;
  progress: ImportProgress;
  onStop: (() => void) | undefined;
}

function Progress({ file, progress, onStop }: ProgressProps) {
  const { total, done, created, rejected, incomplete, isRunning } = progress;
  return (
    <>
      <progress aria-label="Progress" max={total} value={done} />
      <p role="status">
        {isRunning
          ? `${done.toLocaleString()} of ${countOf(total)} done. At the limit of the API key the import waits, and continues by itself.`
          : `Created ${animals(created)}, rejected ${countOf(rejected.length)}.`}
      </p>
      <div className="import-actions">
        {isRunning ? <Button onClick={onStop}>Stop</Button> : <Download file={file} rows={rejected} />}
        {!isRunning && (
          <Link className="button" to="/animals" search={{ sort: '-id' }}>
            Show the animals
          </Link>
        )}
      </div>
      <BadRows title="Created without their stock" rows={incomplete} />
      <BadRows title="Rejected" rows={rejected} />
    </>
  );
}

/** Downloads rejected rows with their reasons, so that they can be corrected and imported. */
function Download({ file, rows }: { file: CsvFile; rows: readonly BadRow[] }) {
  if (rows.length === 0) return null;
  function download(): void {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([BOM, rejectedFile(file, rows)], { type: 'text/csv' }));
    link.download = file.name.replace(/(\.\w+)?$/, '.rejected.csv');
    link.click();
    // The browser has begun to read it by then.
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  }
  return <Button onClick={download}>Download {countOf(rows.length)}</Button>;
}

function BadRows({ title, rows }: { title: string; rows: readonly BadRow[] }) {
  if (rows.length === 0) return null;
  return (
    <section className="bad-rows" aria-label={title}>
      <h2>
        {title}: {countOf(rows.length)}
      </h2>
      <ul>
        {rows.slice(0, SHOWN).map(({ row, message }) => (
          <li key={row.line}>
            <strong>Line {row.line}</strong> {message}
          </li>
        ))}
        {rows.length > SHOWN && <li>… and {(rows.length - SHOWN).toLocaleString()} more</li>}
      </ul>
    </section>
  );
}

const countOf = (rows: number) => `${rows.toLocaleString()} row${rows === 1 ? '' : 's'}`;
const animals = (count: number) => `${count.toLocaleString()} animal${count === 1 ? '' : 's'}`;
