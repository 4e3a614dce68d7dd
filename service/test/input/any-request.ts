import fc from 'fast-check';
import { filled, type KnownOperation, operations } from '../support/operations.ts';

const oddText = fc.oneof(
  fc.constantFrom('', 'null', 'abc', '%00', '%ZZ', '%ff', '__proto__', '..', "'; DROP TABLE pets"),
  fc.constantFrom('0', '-1', '1', '2', '1.5', '1e3', '9007199254740993', '9223372036854775808'),
  fc.string({ maxLength: 20 }),
);

/** Only what an HTTP client is willing to send in a target. */
const targetText = oddText.map(text => text.replace(/[^\x21-\x7e]/g, '+').replaceAll('#', '%23'));

const segment = targetText.map(text => text.replace(/[/?]/g, '_'));

const parameterName = fc.constantFrom(
  'id',
  'limit',
  'cursor',
  'sort',
  'name',
  'status',
  'complete',
  'shipDateTo',
  '__proto__',
  'x',
);

const query = fc.oneof(
  { weight: 3, arbitrary: fc.constant('') },
  {
    weight: 1,
    arbitrary: fc
      .array(fc.tuple(parameterName, targetText), { maxLength: 2 })
      .map(parameters => `?${parameters.map(parameter => parameter.join('=')).join('&')}`),
  },
);

const header = fc.tuple(
  fc.constantFrom(
    'accept',
    'api-version',
    'authorization',
    'content-encoding',
    'content-type',
    'expect',
    'idempotency-key',
    'if-match',
    'if-none-match',
    'x-api-key',
    'x-request-id',
  ),
  fc.oneof(
    fc.constantFrom('application/json', 'application/merge-patch+json', '*', '"x"', 'Bearer x', 'gzip', '1'),
    fc.string({ maxLength: 20 }),
  ),
);

const headers = fc.array(header, { maxLength: 1 }).map(pairs => Object.fromEntries(pairs));

/** Replaces up to two characters by noise. */
function damaged(text: string): fc.Arbitrary<string> {
  const edit = fc.tuple(fc.nat({ max: text.length }), fc.nat({ max: 2 }), fc.string({ maxLength: 3 }));
  return edit.map(([at, cut, noise]) => text.slice(0, at) + noise + text.slice(at + cut));
}

/** The example body of an operation with one field changed or added, and anything else. */
function bodyFor({ body }: KnownOperation): fc.Arbitrary<string | Uint8Array | undefined> {
  const anything = fc.oneof(fc.constant(undefined), fc.json(), fc.uint8Array({ maxLength: 50 }));
  if (!body) return anything;
  const field = fc.oneof(fc.constantFrom(...Object.keys(body.properties)), oddText);
  const changed = fc
    .tuple(field, fc.oneof(fc.jsonValue(), fc.nat(), oddText))
    .map(([name, value]) => JSON.stringify({ ...body.example, [name]: value }));
  return fc.oneof(
    { weight: 5, arbitrary: changed },
    { weight: 1, arbitrary: changed.chain(damaged) },
    { weight: 2, arbitrary: anything },
  );
}

const ofOperation = fc.constantFrom(...operations).chain(operation =>
  fc.record({
    method: fc.constant(operation.method),
    target: fc
      .tuple(fc.oneof(fc.constant('1'), segment), query)
      .map(([id, query]) => filled(operation.template, id) + query),
    headers,
    body: bodyFor(operation),
  }),
);

const ofNothing = fc.record({
  method: fc.constantFrom('GET', 'HEAD', 'POST', 'OPTIONS', 'TRACE', 'QUERY', 'PURGE'),
  target: fc.array(targetText, { maxLength: 4 }).map(segments => `/${segments.join('/')}`),
  headers,
  body: fc.option(fc.json(), { nil: undefined }),
});

/** Requests of every kind that HTTP can carry: mostly operations of the contract with something odd about them. */
export const anyRequest = fc.oneof(
  { weight: 9, arbitrary: ofOperation },
  { weight: 1, arbitrary: ofNothing },
);
