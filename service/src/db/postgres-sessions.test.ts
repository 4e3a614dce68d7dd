import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Client, QueryConfig, QueryResult } from 'pg';
import { directSessions, INDEX_ORDER, pooledSessions, type Sessions } from './postgres-sessions.ts';

const READ: QueryConfig = { name: 'named', text: 'SELECT $1', values: [1] };

/** What a read sends, and the statement whose result it resolves with. */
async function readOn(sessions: Sessions, plan?: 'index order') {
  const sent: (string | QueryConfig)[] = [];
  const query = async (statement: string | QueryConfig) => {
    sent.push(statement);
    return statement as unknown as QueryResult;
  };
  const result: unknown = await sessions.read({ query } as unknown as Client, READ, plan);
  return { sent, result };
}

describe('a read', () => {
  const limits = 'SET LOCAL statement_timeout = 7; SET LOCAL idle_in_transaction_session_timeout = 7';
  const unnamed = { text: READ.text, values: READ.values };

  it('on the server is one prepared statement', async () => {
    assert.deepEqual(await readOn(directSessions(7)), { sent: [READ], result: READ });
  });

  it('on the server in the order of an index has the settings for it in a transaction', async () => {
    const begin = `BEGIN READ ONLY; ${INDEX_ORDER}`;
    assert.deepEqual(await readOn(directSessions(7), 'index order'), {
      sent: [begin, READ, 'COMMIT'],
      result: READ,
    });
  });

  it('through a pooler has its limits in a transaction, and no name', async () => {
    const begin = `BEGIN READ ONLY; ${limits}`;
    assert.deepEqual(await readOn(pooledSessions(7)), { sent: [begin, unnamed, 'COMMIT'], result: unnamed });
  });

  it('through a pooler in the order of an index has both', async () => {
    const begin = `BEGIN READ ONLY; ${limits}; ${INDEX_ORDER}`;
    assert.deepEqual(await readOn(pooledSessions(7), 'index order'), {
      sent: [begin, unnamed, 'COMMIT'],
      result: unnamed,
    });
  });
});
