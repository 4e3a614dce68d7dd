import pg, { type ClientConfig, type QueryConfig } from 'pg';
import type { Value } from './database.ts';

interface Statement {
  /** Under which each connection prepares it once. */
  name: string;
  text: string;
}

const statements = new Map<string, Statement>();

/** A text with its `?` as the `$1`, `$2` … that PostgreSQL takes. No text of ours has a `?` of another meaning. */
export function statementOf(sql: string, values: readonly Value[]): QueryConfig {
  let statement = statements.get(sql);
  if (!statement) {
    let parameters = 0;
    statement = { name: `s${statements.size}`, text: sql.replaceAll('?', () => `$${++parameters}`) };
    statements.set(sql, statement);
  }
  return { ...statement, values: values.map(withinSchema) };
}

/** No integer of the schema reaches this. Beyond 64 bits the server would not compare with it. */
const BEYOND_ALL = 2 ** 53;

/** A number as one that the server can compare, with the same outcome for all that is kept. */
function withinSchema(value: Value): Value {
  return typeof value === 'number' ? Math.max(-BEYOND_ALL, Math.min(value, BEYOND_ALL)) : value;
}

/** All integers of the schema are below 2^53, so the 64-bit ones are read as numbers. */
export const types: ClientConfig['types'] = {
  getTypeParser: ((oid: number, format?: 'text') =>
    oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format)) as NonNullable<
    ClientConfig['types']
  >['getTypeParser'],
};
