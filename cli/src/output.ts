import { once } from 'node:events';
import { escapeFormula } from '@petstore/pet-files';
import { stringify } from 'csv-stringify/sync';
import { colorsOf } from './colors.ts';
import type { Command } from './command.ts';
import { UsageError } from './failure.ts';
import { json, printable } from './printable.ts';
import type { Settings } from './settings.ts';
import { formatItem, TableWriter } from './table.ts';

/** Items of a list that are read before the first rows are printed, to choose the widths of the columns. */
const CHUNK = 100;

/** Prints items: as JSON in one line each, as a table on a terminal, or otherwise as columns separated by tabs. */
export async function print(
  { output, prints }: Pick<Command, 'output' | 'prints'>,
  items: AsyncIterable<object>,
  { isJson, fields, format, isRaw, isCsv, environment }: Settings,
  stdout: NodeJS.WriteStream,
): Promise<void> {
  const write = async (text: string) => {
    if (text !== '' && !stdout.write(text)) await once(stdout, 'drain');
  };
  if (output === 'text' && !isJson) {
    for await (const item of items) await write(String(fieldOf(item, 'script')));
    return;
  }
  const columns = fields ?? prints.columns ?? prints.fields;
  if ((output === 'file' || isCsv) && !isJson && format !== 'ndjson') {
    for await (const row of csvOf(items, columns, isRaw))
      await write(stdout.isTTY ? `${printable(row.trimEnd())}\n` : row);
    return;
  }
  if (isJson || format === 'ndjson' || !stdout.isTTY) {
    const line = (item: object) =>
      isJson || format === 'ndjson'
        ? json(fields ? select(item, fields) : item)
        : columns.map(name => cell(fieldOf(item, name))).join('\t');
    for await (const item of items) await write(`${line(item)}\n`);
    return;
  }
  const colors = colorsOf(stdout, environment);
  const width = Number(environment.COLUMNS) || stdout.columns || 80;
  if (output === 'item') {
    const rows = (item: object) =>
      columns
        .flatMap(name => flatten(name, fieldOf(item, name)))
        .map(([name, value]) => [name, cell(value)] as const);
    for await (const item of items) await write(formatItem(rows(item), width, colors));
    return;
  }
  const { widths: expected, wraps } = prints;
  const table = new TableWriter(columns, { expected, wraps }, width, colors);
  let rows: string[][] = [];
  for await (const item of items) {
    rows.push(columns.map(name => localTime(cell(fieldOf(item, name)))));
    if (rows.length < CHUNK && output !== 'stream') continue;
    await write(table.format(rows));
    rows = [];
  }
  if (rows.length > 0) await write(table.format(rows));
}

/** Yields items as CSV (RFC 4180), after a header, which a list without items has as well. */
async function* csvOf(
  items: AsyncIterable<object>,
  columns: readonly string[],
  isRaw: boolean,
): AsyncGenerator<string> {
  // Numbers are never formulas, but -5 looks like one.
  const cellOf = (value: unknown) =>
    isRaw || typeof value === 'number' ? plain(value) : escapeFormula(plain(value));
  // With the first item: a command that fails at once writes nothing that looks like an empty list.
  let isFirst = true;
  for await (const item of items) {
    if (isFirst) yield stringify([columns]);
    isFirst = false;
    yield stringify([columns.map(name => cellOf(fieldOf(item, name)))]);
  }
  if (isFirst) yield stringify([columns]);
}

/** Rejects fields that no item has. `windows.day` is a field of the field `windows`. */
export function checkFields(
  { prints }: Pick<Command, 'prints'>,
  fields: readonly string[] | undefined,
): void {
  const unknown = fields?.find(name => !prints.fields.includes(name.split('.')[0]!));
  if (unknown !== undefined && prints.fields.length === 0)
    throw new UsageError(
      '--fields: the command prints the whole body: choose fields with another program, such as jq',
    );
  if (unknown !== undefined)
    throw new UsageError(
      `--fields: no field has the name ${JSON.stringify(unknown)}. Fields: ${prints.fields.join(', ')}`,
    );
}

function fieldOf(item: object, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>(
      (value, name) =>
        typeof value === 'object' && value !== null && Object.hasOwn(value, name)
          ? (value as Record<string, unknown>)[name]
          : undefined,
      item,
    );
}

/** An object becomes several fields, named as `--fields` names them. */
function flatten(name: string, value: unknown): (readonly [string, unknown])[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [[name, value]];
  return Object.entries(value).flatMap(([part, value]) => flatten(`${name}.${part}`, value));
}

function select(item: object, fields: readonly string[]): object {
  return Object.fromEntries(fields.map(name => [name, fieldOf(item, name)]));
}

/** A time as people read it in a table, such as 2027-01-31 13:00:00, in their time zone. Other texts stay. */
function localTime(text: string): string {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(text)) return text;
  // Swedish writes times in this form.
  return new Date(text).toLocaleString('sv-SE');
}

/** A value as text. A missing one is empty. */
function plain(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** A value as text in one line. A missing one is empty. */
function cell(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (Array.isArray(value) && value.every(part => typeof part !== 'object'))
    return printable(value.join(','));
  return typeof value === 'object' ? json(value) : printable(String(value));
}
