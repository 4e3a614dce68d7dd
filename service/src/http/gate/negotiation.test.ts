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
    'application/json, text/plain, */*',
    '*/*;q=0, application/json',
    'application/*;q=0, application/json',
    '',
  ];
  for (const accept of accepting) {
    it(`"${accept}" accepts JSON`, () => rejectOtherMediaType({ accept }));
  }

  it('is read for the media type of the operation', () => {
    const accept = 'application/json, text/plain, */*;q=0';
    assert.doesNotThrow(() => rejectOtherMediaType({ accept }, 'text/plain'));
    assert.throws(() => rejectOtherMediaType({ accept }, 'text/event-stream'));
  });

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
    'application/json-seq, text/plain',
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
