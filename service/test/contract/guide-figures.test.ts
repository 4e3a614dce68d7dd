import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { WEBHOOKS_PER_KEY } from '../../src/contract/defaults.ts';
import { API_VERSION } from '../../src/contract/version.ts';
import { RESPONSE_TIMEOUT, SCHEDULE, WINDOW } from '../../src/events/webhooks/delivery-rules.ts';
import {
  FAILING_CONCURRENCY,
  INITIAL_CONCURRENCY,
  MAX_CONCURRENCY,
} from '../../src/events/webhooks/lane-rules.ts';
import { grouped, inWords } from '../../src/kit/quantities.ts';
import { docsDirectory } from '../support/guide.ts';

const guide = readFileSync(join(docsDirectory, 'api-guide.md'), 'utf8').replace(/\s+/g, ' ');

describe('the figures in the guide', () => {
  for (const text of [
    `The version of the interface is ${API_VERSION}.`,
    `return a 2xx within ${inWords(RESPONSE_TIMEOUT)}`,
    `The service tries again after ${SCHEDULE},`,
    `${INITIAL_CONCURRENCY} at first, more`,
    `(up to ${MAX_CONCURRENCY}, and`,
    `and ${FAILING_CONCURRENCY} while attempts fail`,
    `At most ${grouped(WINDOW.pending)} deliveries are pending`,
    `A key can have ${WEBHOOKS_PER_KEY} webhooks, unless`,
  ]) {
    it(`match the service: ${text}`, () => assert.ok(guide.includes(text)));
  }
});
