import { hash } from 'node:crypto';
import type BetterSqlite3 from 'better-sqlite3';
import type { Client } from 'pg';
import type { Column, Table } from './embedded-source.ts';

/**
 * A checksum of a table: `row_count`, and for each column the number of values that are not null and their sum, or the sum
 * of their fingerprints when they are not numbers. It does not depend on the order of the rows.
 */
type Figures = Record<string, string>;

/** The SQL function for a fingerprint: the first 32 bits of the SHA-256 of the bytes, in UTF-8 for a text. */
const FINGERPRINT = 'fingerprint';

export function figuresOfSource(source: BetterSqlite3.Database, table: Table): Figures {
  source.function(FINGERPRINT, { deterministic: true }, (value: string | Buffer | null) =>
    value === null ? null : BigInt(hash('sha256', value, 'buffer').readUInt32BE()),
  );
  const figures = source
    .prepare<[], object>(figuresSql(table, ({ name }) => `${FINGERPRINT}(${name})`))
    .get()!;
  return Object.fromEntries(Object.entries(figures).map(([name, value]) => [name, String(value)]));
}

export async function figuresOfCopy(target: Client, table: Table): Promise<Figures> {
  const sql = figuresSql(table, ({ name, type }) => {
    const bytes = type === 'TEXT' ? `convert_to(${name}, 'UTF8')` : name;
    return `('x' || encode(substr(sha256(${bytes}), 1, 4), 'hex'))::bit(32)::bigint`;
  });
  const { rows } = await target.query<Figures>(sql);
  return rows[0]!;
}

function figuresSql({ name: table, columns }: Table, fingerprint: (column: Column) => string): string {
  const figures = columns.map(column => {
    const { name, type } = column;
    // Remainders, because the sum of a few million instants would exceed 64 bits.
    const figure = type === 'INTEGER' ? `${name} % 4294967291` : fingerprint(column);
    return `coalesce(sum(${figure}), 0) AS ${name}_sum, count(${name}) AS ${name}_count`;
  });
  return `SELECT count(*) AS row_count, ${figures.join(', ')} FROM ${table}`;
}
