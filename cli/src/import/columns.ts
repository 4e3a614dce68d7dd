import {
  addedColumnProblem,
  emptyProblem,
  fieldOf as fieldByName,
  fields,
  isAddedColumn,
  widthProblem,
} from '@petstore/pet-files';
import { UsageError } from '../failure.ts';
import type { Source } from './source.ts';

/** Converts the rows of a file to fields. */
export interface Columns {
  /** The values of a CSV row by field; a message if it has too many or too few cells. */
  ofCells: (cells: readonly string[]) => Record<string, unknown> | string;
  /** The values of a line of NDJSON by field; a message if it cannot be read. */
  ofJson: (text: string) => Record<string, unknown> | string;
}

/** Decides which column is which field. Throws a `UsageError` if one is not known. */
export function columnsOf({ file, format, delimiter, header }: Source, map: readonly string[]): Columns {
  const mapped = new Map(map.map(parseMapping));
  const fieldsOfHeader = format === 'csv' ? header.map(column => fieldOf(column, mapped)) : [];
  if (format === 'csv') checkHeader(file, header, fieldsOfHeader, mapped);
  return {
    ofCells: cells => {
      const problem = widthProblem(cells, header, delimiter);
      if (problem !== undefined) return problem;
      const entries = fieldsOfHeader.map((field, i) => [field, cells[i]] as const);
      return Object.fromEntries(entries.filter(([field]) => field !== ''));
    },
    ofJson: text => readObject(text, mapped),
  };
}

function parseMapping(text: string): readonly [string, string] {
  const place = text.lastIndexOf('=');
  const [column, field] = [text.slice(0, place), text.slice(place + 1)];
  if (place < 1) throw new UsageError(`--map: write COLUMN=FIELD instead of ${JSON.stringify(text)}`);
  if (field !== '' && isAddedColumn(column)) throw new UsageError(`--map: ${addedColumnProblem(column)}`);
  if (field === '' || fields.some(known => known === field)) return [column, field];
  throw new UsageError(
    `--map: ${JSON.stringify(field)} is not a field. Fields: ${fields.join(', ')}. Without one, as in ${JSON.stringify(`${column}=`)}, the column is left out`,
  );
}

/** Returns the field of a column, '' if it is left out, and `undefined` if it is not known. */
function fieldOf(column: string, mapped: ReadonlyMap<string, string>): string | undefined {
  return mapped.get(column) ?? fieldByName(column);
}

function checkHeader(
  file: string,
  header: readonly string[],
  found: readonly (string | undefined)[],
  mapped: ReadonlyMap<string, string>,
): void {
  if (header.length === 0) throw new UsageError(emptyProblem(file));
  const columns = header.map(column => JSON.stringify(column)).join(', ');
  const missing = [...mapped.keys()].find(column => !header.includes(column));
  if (missing !== undefined)
    throw new UsageError(`--map: ${file} has no column ${JSON.stringify(missing)}. Columns: ${columns}`);
  const nameless = header.findIndex(column => column.trim() === '');
  if (nameless >= 0)
    throw new UsageError(
      `Column ${nameless + 1} of ${file} has no name: name it in the first line, or remove it. Columns: ${columns}`,
    );
  const place = found.indexOf(undefined);
  if (place >= 0) throw new UsageError(unknownColumn(header[place]!));
  const twice = found.find((field, i) => field !== '' && found.indexOf(field) !== i);
  if (twice !== undefined) {
    const [first, second] = header.filter((_, i) => found[i] === twice);
    const remedy =
      first === second ? 'rename one in the file' : `leave one out with --map ${JSON.stringify(`${first}=`)}`;
    throw new UsageError(`Two columns of ${file} are the field ${twice}: ${remedy}`);
  }
  const lacking = found.includes('name') ? 'category' : 'name';
  if (found.includes('name') && (found.includes('category') || found.includes('categoryId'))) return;
  throw new UsageError(
    `${file} has no column ${JSON.stringify(lacking)}: name the columns in its first line, or choose one with --map COLUMN=${lacking}. Columns: ${columns}`,
  );
}

function unknownColumn(column: string): string {
  return `The column ${JSON.stringify(column)} is not a field: choose one with --map ${JSON.stringify(`${column}=FIELD`)} (${fields.join(', ')}), or leave it out with --map ${JSON.stringify(`${column}=`)}`;
}

function readObject(text: string, mapped: ReadonlyMap<string, string>): Record<string, unknown> | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return `The line is not JSON: ${(error as Error).message}`;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return 'The line is not a JSON object: write {"name": …, "category": …}';
  const values: Record<string, unknown> = {};
  for (const [column, cell] of Object.entries(value)) {
    const field = fieldOf(column, mapped);
    if (field === undefined) return unknownColumn(column);
    if (field === '') continue;
    if (Object.hasOwn(values, field)) return `Two members of the line are the field ${field}: remove one`;
    values[field] = cell;
  }
  return values;
}
