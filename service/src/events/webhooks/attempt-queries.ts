import type { Queries, Statements } from '../../db/database.ts';
import { recordsSql } from '../../db/records-sql.ts';

/** Attempts as they are stored. Times are in milliseconds, and instants since the Unix epoch. */
export interface AttemptRow {
  delivery_id: number;
  number: number;
  started_at: number;
  duration_ms: number;
  status: number | null;
  error: string | null;
  response_start: string | null;
}

const columns = {
  delivery_id: 'BIGINT',
  number: 'BIGINT',
  started_at: 'BIGINT',
  duration_ms: 'BIGINT',
  status: 'BIGINT',
  error: 'TEXT',
  response_start: 'TEXT',
} as const;
const COLUMNS = Object.keys(columns).join(', ');

export async function insertAttempts(db: Statements, attempts: readonly AttemptRow[]): Promise<void> {
  if (attempts.length === 0) return;
  const [made, json] = recordsSql(db.engine, columns, attempts);
  await db.run(`INSERT INTO webhook_attempts (${COLUMNS}) SELECT ${COLUMNS} FROM ${made} AS made`, [json]);
}

/** Returns the last attempts of a delivery, latest first. */
export function selectAttempts(db: Queries, deliveryId: number, limit: number): Promise<AttemptRow[]> {
  return db.all(
    `SELECT ${COLUMNS} FROM webhook_attempts WHERE delivery_id = ? ORDER BY number DESC LIMIT ?`,
    [deliveryId, limit],
  );
}
