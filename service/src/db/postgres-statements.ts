import pg, { type ClientConfig, type QueryConfig } from 'pg';
import type { QueryPlan, Value } from './database.ts';

interface Statement {
  /** The name under which each connection prepares the statement once. */
  name: string;
  text: string;
}

const statements = new Map<string, Statement>();

/**
 * Replaces each `?` with `$1`, `$2` …, as PostgreSQL requires. Our SQL uses `?` only for parameters. The server keeps plans only of
 * statements with a name (PostgreSQL, PREPARE).
 */
export function statementOf(sql: string, values: readonly Value[], plan?: QueryPlan): QueryConfig {
  let statement = statements.get(sql);
  if (!statement) {
    let parameters = 0;
    statement = { name: `s${statements.size}`, text: sql.replaceAll('?', () => `$${++parameters}`) };
    statements.set(sql, statement);
  }
  const { name, text } = statement;
  return { ...(plan !== 'custom' && { name }), text, values: values.map(withinRange) };
}

/** All stored integers are smaller. The server rejects a comparison with a number of more than 64 bits. */
const INTEGER_LIMIT = 2 ** 53;

/** Limits a number to a range in which the server can compare it. The result of a comparison with stored values is the same. */
function withinRange(value: Value): Value {
  return typeof value === 'number' ? Math.max(-INTEGER_LIMIT, Math.min(value, INTEGER_LIMIT)) : value;
}

/** All stored integers are below 2^53, so 64-bit ones are read as numbers. */
export const types: ClientConfig['types'] = {
  getTypeParser: ((oid: number, format?: 'text') =>
    oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format)) as NonNullable<
    ClientConfig['types']
  >['getTypeParser'],
};
