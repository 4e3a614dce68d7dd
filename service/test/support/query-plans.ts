import type { Client } from 'pg';
import type { Queries, QueryPlan, Value } from '../../src/db/database.ts';
import { INDEX_ORDER } from '../../src/db/postgres-sessions.ts';

/** A statement as the service sends it. */
export interface Sent {
  sql: string;
  values: readonly Value[];
  plan: QueryPlan | undefined;
}

/** Calls `onSend` before each read of several rows, and `onRows` after it. */
export function recorded(
  db: Queries,
  onSend: (sent: Sent) => void,
  onRows: (sent: Sent, rows: readonly unknown[]) => void = () => {},
): Queries {
  return {
    engine: db.engine,
    get: (...query) => db.get(...query),
    all: async (sql, values = [], plan) => {
      const sent = { sql, values, plan };
      onSend(sent);
      const rows = await db.all<never>(sql, values, plan);
      onRows(sent, rows);
      return rows;
    },
  };
}

/** A node of a plan of PostgreSQL that was executed. */
export interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  Filter?: string;
  'Total Cost': number;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Index Recheck'?: number;
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
  Plans?: PlanNode[];
}

/** The ways in which PostgreSQL plans a prepared statement: for its values, or after some executions for any. */
export const planModes = ['force_custom_plan', 'force_generic_plan'] as const;

/** Executes a statement with the plan that a mode leads to. */
export async function explain(
  session: Client,
  { sql, values, plan }: Sent,
  mode: (typeof planModes)[number],
): Promise<PlanNode> {
  let parameters = 0;
  const text = sql.replaceAll('?', () => `$${++parameters}`);
  const literals = values.map(value =>
    typeof value === 'string' ? session.escapeLiteral(value) : String(value),
  );
  await session.query(`BEGIN; ${plan ? INDEX_ORDER : ''}`);
  await session.query(`SET LOCAL plan_cache_mode = ${mode}; PREPARE sent AS ${text}`);
  const execute = literals.length === 0 ? 'sent' : `sent (${literals.join(', ')})`;
  const { rows } = await session.query<{ 'QUERY PLAN': { Plan: PlanNode }[] }>(
    `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) EXECUTE ${execute}`,
  );
  await session.query('DEALLOCATE sent; COMMIT');
  return rows[0]!['QUERY PLAN'][0]!.Plan;
}
