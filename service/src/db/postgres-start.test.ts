import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import pg from 'pg';
import { StoreUnavailable, UnusableStore } from './database.ts';
import { startFailure } from './postgres-start.ts';

const withCode = (error: Error, code: string) => Object.assign(error, { code });
const ofServer = (code: string, message: string) =>
  withCode(new pg.DatabaseError(message, 0, 'error'), code) as pg.DatabaseError;

const wrongPassword = ofServer('28P01', 'wrong password');
const ofHost = (host: string, cause: Error) => new Error(`${host}: ${cause.message}`, { cause });

describe('a start that fails', () => {
  /** What the message adds, and whether the same start may succeed later. */
  const failures: [cause: Error, reason: string, mayRecover: boolean][] = [
    [
      withCode(new Error('connect ECONNREFUSED 127.0.0.1:1'), 'ECONNREFUSED'),
      'connect ECONNREFUSED 127.0.0.1:1',
      true,
    ],
    [withCode(new Error('getaddrinfo EAI_AGAIN db'), 'EAI_AGAIN'), 'getaddrinfo EAI_AGAIN db', true],
    [new Error('timeout expired'), 'timeout expired', true],
    [new Error('Connection terminated unexpectedly'), 'Connection terminated unexpectedly', true],
    [
      new AggregateError([new Error('::1 is closed'), new Error('127.0.0.1 is closed')]),
      '::1 is closed; 127.0.0.1 is closed',
      true,
    ],
    [
      new AggregateError([ofHost('a', wrongPassword), new Error('b accepts no writes')]),
      'a: wrong password; b accepts no writes',
      true,
    ],
    [
      new AggregateError([ofHost('a', wrongPassword), ofHost('b', wrongPassword)]),
      'a: wrong password; b: wrong password',
      false,
    ],
    [ofServer('57P03', 'the database system is starting up'), 'the database system is starting up', true],
    [ofServer('53300', 'sorry, too many clients already'), 'sorry, too many clients already', true],
    [
      ofServer('28P01', 'timeout: password authentication failed'),
      'timeout: password authentication failed',
      false,
    ],
    [ofServer('3D000', 'database "shop" does not exist'), 'database "shop" does not exist', false],
    [
      withCode(new Error("ENOENT: no such file or directory, open 'ca.pem'"), 'ENOENT'),
      "ENOENT: no such file or directory, open 'ca.pem'",
      false,
    ],
    [withCode(new Error('certificate has expired'), 'CERT_HAS_EXPIRED'), 'certificate has expired', true],
    [
      withCode(new Error('certificate is not yet valid'), 'CERT_NOT_YET_VALID'),
      'certificate is not yet valid',
      true,
    ],
    [
      withCode(new Error('self-signed certificate'), 'DEPTH_ZERO_SELF_SIGNED_CERT'),
      'self-signed certificate',
      false,
    ],
    [
      withCode(new Error('Hostname does not match'), 'ERR_TLS_CERT_ALTNAME_INVALID'),
      'Hostname does not match',
      false,
    ],
    [
      new Error('SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string'),
      'the server requires a password',
      false,
    ],
  ];
  for (const [cause, reason, mayRecover] of failures) {
    it(`${mayRecover ? 'may succeed later' : 'needs a change'}: ${reason}`, () => {
      const failure = startFailure('postgres://user:secret@db/shop', cause);
      const remedy = mayRecover
        ? 'check that the server runs and accepts connections and writes, or correct DATABASE_URL'
        : 'correct DATABASE_URL or the database';
      assert.equal(
        failure.message,
        `The database postgres://user:***@db/shop cannot be used (${reason}): ${remedy}`,
      );
      assert.ok(failure instanceof (mayRecover ? StoreUnavailable : UnusableStore));
    });
  }

  it('keeps an error that already states which of both it is', () => {
    for (const failure of [new UnusableStore('the encoding'), new StoreUnavailable('locked')])
      assert.equal(startFailure('postgres://db/shop', failure), failure);
  });
});
