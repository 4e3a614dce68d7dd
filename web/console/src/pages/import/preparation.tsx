import { useState } from 'react';
import type { Checked } from '../../data/import/check.ts';
import type { Mapping } from '../../data/import/columns.ts';
import type { CsvFile } from '../../data/import/csv.ts';
import { rowsOf, type useImport } from '../../data/import/use-import.ts';
import { Button } from '../../kit/button.tsx';
import { Choices } from '../../kit/choices.tsx';
import { inWords } from '../../kit/in-words.ts';
import { Columns } from './columns.tsx';
import { Download } from './download.tsx';
import { Preview, titles } from './preview.tsx';

interface PreparationProps {
  file: CsvFile;
  current: ReturnType<typeof useImport>;
}

/** Everything before the first row is written. */
export function Preparation({ file, current }: PreparationProps) {
  const { mapping, createsCategories, checked, problem, isChecking } = current;
  // Who has nothing to choose sees the rows at once.
  const [isOpen, setOpen] = useState(problem !== undefined);
  return (
    <>
      <details className="import-mapping" open={isOpen} onToggle={event => setOpen(event.currentTarget.open)}>
        <summary>Columns: {mappingInWords(file, mapping)}</summary>
        <Columns file={file} mapping={mapping} onChange={current.setMapping} />
      </details>
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
      {isChecking && !checked && <p role="status">Checking the rows …</p>}
      {checked && <Result file={file} checked={checked} current={current} />}
    </>
  );
}

/** `Tiername is Name, Tierart is Category`. */
function mappingInWords({ header }: CsvFile, mapping: Mapping): string {
  const chosen = mapping.flatMap((field, i) => (field === '' ? [] : [`${header[i]} is ${titles[field]}`]));
  return chosen.length > 0 ? chosen.join(', ') : 'none is chosen';
}

type View = 'bad' | 'existing' | 'good';

function Result({ file, checked, current }: PreparationProps & { checked: Checked }) {
  const { importsExisting, isChecking, corrected, mapping } = current;
  const { good, existing, bad } = checked;
  const [chosen, setView] = useState<View>();
  const count = rowsOf(checked, importsExisting).length;
  const toCorrect = bad.length + file.rows.filter(({ line }) => corrected.has(line)).length;
  const view = chosen ?? (toCorrect > 0 ? 'bad' : good.length > 0 ? 'good' : 'existing');
  return (
    <>
      <p role="status">
        {existing.length === file.rows.length
          ? `${existing.length === 1 ? 'The animal of the row exists' : `The animals of all ${inWords(existing.length, 'row')} exist`} already: there is nothing to import.`
          : `${count.toLocaleString()} of ${inWords(file.rows.length, 'row')} can be imported. Nothing is written yet.`}
      </p>
      {existing.length > 0 && (
        <label className="check">
          <input
            type="checkbox"
            checked={importsExisting}
            onChange={event => current.setImportsExisting(event.target.checked)}
          />
          Import {inWords(existing.length, 'animal')} again although{' '}
          {existing.length === 1 ? 'it exists' : 'they exist'} already
        </label>
      )}
      <div className="import-actions">
        <Button
          kind="main"
          // The rows are checked again after a correction.
          disabled={count === 0 || isChecking}
          onClick={() => current.run(checked)}
        >
          Import {inWords(count, 'row')}
        </Button>
        <Download file={file} rows={bad} />
      </div>
      <section className="import-rows" aria-label="Rows of the file">
        <Choices
          label="Rows that are shown"
          chosen={view}
          onChoose={setView}
          choices={[
            { value: 'bad' as View, title: `To correct ${bad.length.toLocaleString()}` },
            { value: 'existing' as View, title: `Exist already ${existing.length.toLocaleString()}` },
            { value: 'good' as View, title: `Ready ${good.length.toLocaleString()}` },
          ]}
        />
        <Preview
          mapping={mapping}
          rows={shown(view, file, checked, corrected)}
          // Another file and another view start at their first row.
          key={view}
          onCorrect={view === 'bad' ? current.correct : undefined}
        />
        {view === 'bad' && current.note && <p role="status">{current.note}</p>}
      </section>
    </>
  );
}

/** The rows of a view. A row that was corrected stays among those to correct, so that no row moves below the pointer. */
function shown(
  view: View,
  { rows }: CsvFile,
  { good, existing, bad }: Checked,
  corrected: ReadonlySet<number>,
) {
  if (view !== 'bad') return (view === 'good' ? good : existing).map(({ row }) => ({ row }));
  const problems = new Map(bad.map(problem => [problem.row.line, problem]));
  return rows.flatMap(row => {
    const problem = problems.get(row.line);
    return problem || corrected.has(row.line) ? [{ row, problem }] : [];
  });
}
