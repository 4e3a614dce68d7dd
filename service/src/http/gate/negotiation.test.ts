import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ApiError } from '../../contract/errors.ts';
import { rejectOtherMediaType } from './negotiation.ts';

describe('an Accept header', () => {
  const accepting = [
    '*/*',
    'application/json',
    'APPLICATION/JSON',
    'application/*',
    'application/json; charset=utf-8',
    'application/json;q=0.001',
    'application/xml, application/json;q=0.1',
    'text/html, application/xhtml+xml, */*;q=0.8',
    '*/*;q=0, application/json',
    'application/*;q=0, application/json',
    '',
  ];
  for (const accept of accepting) {
    it(`"${accept}" accepts JSON`, () => rejectOtherMediaType({ accept }));
  }

  const excluding = [
    'text/html',
    'application/xml',
    'text/*',
    'application/json;q=0',
    'application/json;q=0.000',
    'application/json;Q=0',
    'application/json; charset=utf-8; q=0',
    '*/*;q=0',
    'application/json;q=0, */*',
    'application/*;q=0, */*',
    'garbage',
  ];
  for (const accept of excluding) {
    it(`"${accept}" excludes JSON, and is quoted in the error`, () => {
      assert.throws(
        () => rejectOtherMediaType({ accept }),
        (error: ApiError) => error.code === 'not_acceptable' && error.message.includes(`"${accept}"`),
      );
    });
  }
});

describe('an Accept header that was parsed before', () => {
  it('has the same result again, for each media type separately', () => {
    const accept = 'application/json, text/plain, */*;q=0';
    for (let time = 0; time < 2; time++) {
      assert.doesNotThrow(() => rejectOtherMediaType({ accept }));
      assert.doesNotThrow(() => rejectOtherMediaType({ accept }, 'text/plain'));
      assert.throws(() => rejectOtherMediaType({ accept }, 'text/event-stream'));
    }
  });

  it('has the same result after any number of others, long and short', () => {
    for (let i = 0; i < 1_000; i++) {
      const parameters = `;v=${'1'.repeat(i)}`;
      assert.doesNotThrow(() => rejectOtherMediaType({ accept: `application/json${parameters}` }));
      assert.throws(() => rejectOtherMediaType({ accept: `text/html${parameters}` }));
    }
    assert.throws(() => rejectOtherMediaType({ accept: 'text/html;v=1' }));
  });
});
