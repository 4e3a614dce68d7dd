import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import pg from 'pg';
import { DatabaseUnavailable } from './database.ts';
import {
  awaitConnection,
  hasLostLocks,
  isRetryable,
  isServerOutage,
  NotConfirmed,
  RolledBack,
  toCommitFailure,
  toOutage,
  toSentFailure,
} from './postgres-errors.ts';

/** An error that the server reports with an SQLSTATE (PostgreSQL, appendix A). */
function stateError(code: string): pg.DatabaseError {
  return Object.assign(new pg.DatabaseError('the message of the server', 0, 'error'), { code });
}

/** What a failure is for the client; `undefined` for an error of the statement. */
function problemOf(error: unknown): string | undefined {
  return error instanceof DatabaseUnavailable ? error.what : undefined;
}

describe('an SQLSTATE', () => {
  /** Of a statement: what is unavailable, and whether the whole server is. */
  const ofStatement: Record<string, [what: string | undefined, isOutage: boolean]> = {
    'connection failure: 08006': ['unavailable', true],
    'idle_in_transaction_session_timeout: 25P03': ['unavailable', true],
    'read-only transaction: 25006': ['readOnly', false],
    'missing prepared statement: 26000': ['unavailable', true],
    'no memory for further locks: 53200': ['busy', false],
    'too many connections: 53300': ['unavailable', true],
    'disk full: 53100': ['full', false],
    'lock not available: 55P03': ['unavailable', true],
    'shutdown: 57P01': ['unavailable', true],
    'cancelled, such as by a time limit: 57014': ['unavailable', false],
    'I/O error: 58030': ['unavailable', true],
    'serialization failure: 40001': ['busy', false],
    'deadlock: 40P01': ['busy', false],
    'unique violation: 23505': [undefined, false],
    'division by zero: 22012': [undefined, false],
  };
  for (const [name, expected] of Object.entries(ofStatement)) {
    it(`of a statement, ${name}`, () => {
      const failure = toOutage(stateError(name.slice(-5)));
      assert.deepEqual(
        [problemOf(failure), failure instanceof DatabaseUnavailable && isServerOutage(failure)],
        expected,
      );
    });
  }

  it('of a conflict or of a constraint lets the work run again', () => {
    const states = ['40001', '40P01', '23505', '23503', '23514', '57014', '08006'];
    assert.deepEqual(
      states.filter(state => isRetryable(stateError(state))),
      ['40001', '40P01', '23505', '23503'],
    );
  });

  it('of a deadlock or of a lock that is not available costs the locks', () => {
    const states = ['40P01', '55P03', '40001', '57014'];
    assert.deepEqual(
      states.filter(state => hasLostLocks(stateError(state))),
      ['40P01', '55P03'],
    );
  });
});

describe('the outcome of a commit', () => {
  it('is certain when the server rejects it', () => {
    const certain = [...['40001', '40P01', '23503', '23514'].map(stateError), new RolledBack()];
    for (const error of certain) assert.equal(toCommitFailure(error), error);
  });

  it('is unknown after every other failure', () => {
    for (const error of [...['57P01', '53100', '08006'].map(stateError), new Error('Connection terminated')])
      assert.equal(problemOf(toCommitFailure(error)), 'unknown');
  });

  it('that was sent with a statement is certain when the server rejects the statement', () => {
    const rejected = stateError('57014');
    assert.equal(toSentFailure(rejected), rejected);
    assert.equal(problemOf(toSentFailure(new Error('Connection terminated'))), 'unknown');
  });
});

describe('the whole server is available', () => {
  it('when it is busy, accepts no writes, has been restored, or a standby has not confirmed a commit', () => {
    const partial = [
      ...(['busy', 'restored', 'full', 'readOnly', 'faulty', 'unconfirmed'] as const).map(
        what => new DatabaseUnavailable(undefined, what),
      ),
      new DatabaseUnavailable(new NotConfirmed(), 'unknown'),
    ];
    for (const failure of partial) assert.equal(isServerOutage(failure), false, failure.what);
    assert.ok(isServerOutage(new DatabaseUnavailable(new Error('Connection terminated'), 'unknown')));
  });

  it('when no connection becomes free in time, and not when none can be opened', async () => {
    const failureOf = async (message: string) => {
      const failed = awaitConnection(Promise.reject(new Error(message)));
      return failed.then(() => assert.fail('it succeeded'), problemOf);
    };
    assert.equal(await failureOf('timeout exceeded when trying to connect'), 'busy');
    assert.equal(await failureOf('timeout expired'), 'unavailable');
  });
});

it('the reason of an outage names each address of the host', () => {
  const refused = ['::1', '127.0.0.1'].map(address => new Error(`connect ECONNREFUSED ${address}:1`));
  assert.equal(
    new DatabaseUnavailable(new AggregateError(refused)).reason,
    'connect ECONNREFUSED ::1:1; connect ECONNREFUSED 127.0.0.1:1',
  );
});
