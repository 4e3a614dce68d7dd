import { formatDateTime, toInstant } from '../kit/dates.ts';
import { foldCase } from '../kit/text.ts';
import type { Value } from './database.ts';

/** How a property of a resource is stored. */
export interface Column<T> extends StoredColumn {
  readonly read: (stored: Value) => T;
  readonly write: (value: T) => Value;
}

/** A column whose property may have any type. */
export interface StoredColumn {
  readonly name: string;
  /** What an engine returns for it, unless it is null. */
  readonly type: 'string' | 'number';
  /** Converts a stored value to the property; with `undefined` the resource lacks the property. */
  read(stored: Value): unknown;
  write(value: unknown): Value;
  /** The store assigns the value: neither INSERT nor UPDATE writes it. */
  readonly isAssigned?: true;
  readonly isNullable?: true;
  /** A second column, which lists use instead to sort and search. */
  readonly key?: StoredKey;
}

/** The column that lists use to sort and search. */
export type StoredKey = Pick<StoredColumn, 'name' | 'type' | 'write'>;

export function keyOf(column: StoredColumn): StoredKey {
  return column.key ?? column;
}

/** The ID of a row. The store assigns it. */
export const assignedId: Column<number> = { ...integer('id'), isAssigned: true };

/** A number, or one of the numbers that the constraint of the column allows. */
export function integer<N extends number = number>(name: string): Column<N> {
  return { name, type: 'number', read: asStored<N>, write: asGiven };
}

/** A text, or one of the texts that the constraint of the column allows. */
export function text<T extends string = string>(name: string): Column<T> {
  return { name, type: 'string', read: asStored<T>, write: asGiven };
}

/** A text that lists sort and search without regard to case, by a second column. */
export function foldedText(name: string, keyName: string): Column<string> {
  return { ...text(name), key: { name: keyName, type: 'string', write: foldCase } };
}

/** A boolean, stored as 0 or 1. */
export function boolean(name: string): Column<boolean> {
  return { name, type: 'number', read: stored => stored === 1, write: Number };
}

/** An RFC 3339 date-time, stored in milliseconds since the Unix epoch and returned in UTC. */
export function instant(name: string): Column<string> {
  return { name, type: 'number', read: stored => formatDateTime(Number(stored)), write: toInstant };
}

/** A property that is absent when the column is null. */
export function optional<T>(column: Column<T>): Column<T | undefined> {
  return {
    ...column,
    isNullable: true,
    read: stored => (stored === null ? undefined : column.read(stored)),
    write: value => (value === undefined ? null : column.write(value)),
  };
}

/** A property that is null when the column is null. */
export function nullable<T>(column: Column<T>): Column<T | null> {
  return {
    ...column,
    isNullable: true,
    read: stored => (stored === null ? null : column.read(stored)),
    write: value => (value === null ? null : column.write(value)),
  };
}

/** The constraints of a column, which a test proves, guarantee the type. */
function asStored<T extends Value>(stored: Value): T {
  return stored as T;
}

function asGiven(value: Value): Value {
  return value;
}
