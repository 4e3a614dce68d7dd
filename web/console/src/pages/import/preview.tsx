import { type CsvRow, type Field, fields } from '@petstore/pet-files';
import { type KeyboardEvent, useState } from 'react';
import type { Mapping } from '../../data/import/columns.ts';
import type { BadRow } from '../../data/import/rejected.ts';
import { statuses } from '../../data/pet-status.ts';
import { useCategories } from '../../data/use-categories.ts';
import { Icon } from '../../kit/icon.tsx';
import { statusNames } from '../../kit/status-names.ts';

export const titles: Record<Field, string> = {
  name: 'Name',
  category: 'Category',
  categoryId: 'Category ID',
  status: 'Status',
  quantity: 'Quantity',
};

/** The most rows that are drawn: a longer table is slow, and read by few. Corrected rows make room for the next ones. */
const SHOWN = 100;

interface PreviewProps {
  mapping: Mapping;
  rows: readonly { row: CsvRow; problem?: BadRow | undefined }[];
  /** Makes the cells fields. */
  onCorrect: ((row: CsvRow, column: number, text: string) => void) | undefined;
}

/** Rows of a file with what is wrong with them. Their cells can be corrected in place. */
export function Preview({ mapping, rows, onCorrect }: PreviewProps) {
  const columns = fields.map(field => mapping.indexOf(field)).filter(column => column >= 0);
  const categories = useCategories();
  if (rows.length === 0) return <p className="hint">There is no such row.</p>;
  const left = (onCorrect ? rows.filter(({ problem }) => problem).length : rows.length) - SHOWN;
  // A row that is corrected stays, and one more is shown.
  const most = SHOWN + rows.slice(0, SHOWN).filter(({ problem }) => onCorrect && !problem).length;
  return (
    <>
      <div className="import-preview">
        <table>
          <thead>
            <tr>
              <th scope="col">Line</th>
              {columns.map(column => (
                <th scope="col" key={column}>
                  {titles[mapping[column] as Field]}
                </th>
              ))}
            </tr>
          </thead>
          {rows.slice(0, most).map(({ row, problem }) => {
            // The cells of such a row are not below the names of their columns.
            const isFixed = problem !== undefined && problem.field === undefined;
            return (
              <tbody key={row.line}>
                <tr>
                  <th scope="row">{row.line}</th>
                  {columns.map(column => (
                    <td key={column}>
                      {onCorrect && !isFixed ? (
                        <Cell
                          label={`${titles[mapping[column] as Field]} of line ${row.line}`}
                          list={mapping[column] as Field}
                          text={row.cells[column] ?? ''}
                          isWrong={problem?.field === mapping[column] || isMissing(problem, mapping, column)}
                          onChange={text => onCorrect(row, column, text)}
                        />
                      ) : (
                        row.cells[column]
                      )}
                    </td>
                  ))}
                </tr>
                {onCorrect && (
                  <tr>
                    <td />
                    <td colSpan={columns.length} data-done={problem === undefined || undefined}>
                      <p>
                        {problem ? (
                          messageOf(problem, mapping)
                        ) : (
                          <>
                            <Icon name="check" /> Corrected
                          </>
                        )}
                      </p>
                    </td>
                  </tr>
                )}
              </tbody>
            );
          })}
        </table>
      </div>
      <datalist id="import-category">
        {categories.map(({ id, name }) => (
          <option key={id} value={name} />
        ))}
      </datalist>
      <datalist id="import-status">
        {statuses.map(status => (
          <option key={status} value={statusNames[status]} />
        ))}
      </datalist>
      {left > 0 && <p className="hint">… and {left.toLocaleString()} more</p>}
    </>
  );
}

/** What is wrong with a row, in the words of the console. */
function messageOf({ row, field, message }: BadRow, mapping: Mapping): string {
  if (field !== 'status') return message;
  const choices = statuses.map(status => statusNames[status]).join(', ');
  return `Write one of ${choices} instead of “${row.cells[mapping.indexOf('status')]}”`;
}

/** Whether a problem is about the category of a row, which the file has as an ID. */
function isMissing(problem: BadRow | undefined, mapping: Mapping, column: number): boolean {
  return problem?.field === 'category' && mapping[column] === 'categoryId' && !mapping.includes('category');
}

interface CellProps {
  label: string;
  list: Field;
  text: string;
  isWrong: boolean;
  onChange: (text: string) => void;
}

/** A cell that can be typed into. Enter leads to the next one that is wrong. */
function Cell({ label, list, text, isWrong, onChange }: CellProps) {
  const [typed, setTyped] = useState<string>();
  function save(): void {
    if (typed !== undefined && typed !== text) onChange(typed);
    setTyped(undefined);
  }
  function onKey(event: KeyboardEvent<HTMLInputElement>): void {
    // The key belongs to the input method.
    if (event.nativeEvent.isComposing) return;
    if (event.key === 'Escape') setTyped(undefined);
    if (event.key !== 'Enter') return;
    event.preventDefault();
    const wrong = [...event.currentTarget.closest('table')!.querySelectorAll('input')];
    const after = wrong.slice(wrong.indexOf(event.currentTarget) + 1);
    const next = after.find(input => input.ariaInvalid === 'true');
    // It saves what it loses the focus with.
    if (next) next.focus();
    else save();
  }
  return (
    <input
      aria-label={label}
      aria-invalid={isWrong}
      autoComplete="off"
      list={list === 'category' || list === 'status' ? `import-${list}` : undefined}
      inputMode={list === 'quantity' || list === 'categoryId' ? 'numeric' : undefined}
      value={typed ?? text}
      onChange={event => setTyped(event.target.value)}
      onBlur={save}
      onKeyDown={onKey}
    />
  );
}
