import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatTraceparent, parseTraceparent } from './trace-context.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

describe('traceparent', () => {
  const valid = {
    'version 00, sampled': [`00-${TRACE}-${SPAN}-01`, `00-${TRACE}-${SPAN}-01`],
    'version 00, not sampled': [`00-${TRACE}-${SPAN}-00`, `00-${TRACE}-${SPAN}-00`],
    'the flag for random trace IDs, of level 2': [`00-${TRACE}-${SPAN}-03`, `00-${TRACE}-${SPAN}-03`],
    'undefined flags, which are sent as zero': [`00-${TRACE}-${SPAN}-ff`, `00-${TRACE}-${SPAN}-03`],
    'a later version without more': [`01-${TRACE}-${SPAN}-01`, `00-${TRACE}-${SPAN}-01`],
    'a later version with more': [`cc-${TRACE}-${SPAN}-01-what-the-future-will-be`, `00-${TRACE}-${SPAN}-01`],
  };
  for (const [name, [header, sent]] of Object.entries(valid)) {
    it(`is parsed and forwarded: ${name}`, () => {
      const context = parseTraceparent(header);
      assert.ok(context);
      assert.deepEqual([context.traceId, context.spanId], [TRACE, SPAN]);
      assert.equal(formatTraceparent(context), sent);
    });
  }

  const invalid = {
    'an empty header': '',
    'the forbidden version': `ff-${TRACE}-${SPAN}-01`,
    'a trace ID of zeros': `00-${'0'.repeat(32)}-${SPAN}-01`,
    'a span ID of zeros': `00-${TRACE}-${'0'.repeat(16)}-01`,
    'capital letters': `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    'letters beyond f': `00-${TRACE.replace('4', 'g')}-${SPAN}-01`,
    'more after version 00': `00-${TRACE}-${SPAN}-01-more`,
    'a dash after version 00': `00-${TRACE}-${SPAN}-01-`,
    'more after a later version without a dash': `01-${TRACE}-${SPAN}-01.more`,
    'a trace ID too short': `00-${TRACE.slice(1)}-${SPAN}-01`,
    'a span ID too long': `00-${TRACE}-${SPAN}0-01`,
    'a version of one digit': `0-${TRACE}-${SPAN}-01`,
    'no flags': `00-${TRACE}-${SPAN}`,
    'two headers, which arrive joined': `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`,
    'a line break at the end': `00-${TRACE}-${SPAN}-01\n`,
  };
  for (const [name, header] of Object.entries(invalid)) {
    it(`is ignored: ${name}`, () => assert.equal(parseTraceparent(header), undefined));
  }

  it('is ignored when it is missing or a list', () => {
    assert.equal(parseTraceparent(undefined), undefined);
    assert.equal(parseTraceparent([`00-${TRACE}-${SPAN}-01`]), undefined);
  });
});
