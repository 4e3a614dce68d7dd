import { type Field, fields } from '@petstore/pet-files';
import type { Mapping } from '../../data/import/columns.ts';
import type { CsvFile } from '../../data/import/csv.ts';
import { titles } from './preview.tsx';

interface ColumnsProps {
  file: CsvFile;
  mapping: Mapping;
  onChange: (mapping: Mapping) => void;
}

/** The columns of a file with an example, and the field of each. */
export function Columns({ file: { header, rows }, mapping, onChange }: ColumnsProps) {
  return (
    <table className="import-columns">
      <thead>
        <tr>
          <th scope="col">Column</th>
          <th scope="col">Example</th>
          <th scope="col">Field</th>
        </tr>
      </thead>
      <tbody>
        {header.map((column, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the columns of a file do not move, and names can repeat
          <tr key={i}>
            <th scope="row">{column || `Column ${i + 1}`}</th>
            <td>{rows.find(({ cells }) => cells[i])?.cells[i]}</td>
            <td>
              <select
                aria-label={`Field of ${column || `column ${i + 1}`}`}
                value={mapping[i]}
                onChange={event => onChange(mapping.with(i, event.target.value as Field | ''))}
              >
                <option value="">Leave out</option>
                {fields.map(field => (
                  <option key={field} value={field}>
                    {titles[field]}
                  </option>
                ))}
              </select>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
