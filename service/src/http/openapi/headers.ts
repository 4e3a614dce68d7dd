const integerHeader = (description: string, example: number) => ({
  description,
  required: true,
  schema: { type: 'integer', minimum: 0 },
  example,
});

const textHeader = (description: string, example: string) => ({
  description,
  schema: { type: 'string' },
  example,
});

/** Every header that responses carry, by name. */
export const headerComponents = {
  'X-RateLimit-Limit': integerHeader('The request limit of the window that binds.', 60),
  'X-RateLimit-Remaining': integerHeader('Requests remaining in that window.', 59),
  'X-RateLimit-Reset': integerHeader('When that window ends, as a Unix timestamp in seconds.', 1_795_251_600),
  'RateLimit-Policy': {
    ...textHeader(
      'Both windows: requests (`q`) and seconds (`w`); draft-ietf-httpapi-ratelimit-headers.',
      '"minute";q=60;w=60, "day";q=1000;w=86400',
    ),
    required: true,
  },
  RateLimit: {
    ...textHeader(
      'The window that binds: requests remaining (`r`), and in how many seconds it resets (`t`).',
      '"minute";r=59;t=30',
    ),
    required: true,
  },
  'X-Request-Id': {
    ...textHeader(
      'The ID under which the request was logged; taken over from the request.',
      '4a1d0d5e-2f5c-4c0e-9d53-1f6f0c3f8a11',
    ),
    required: true,
  },
  'API-Version': { ...textHeader('The version of the interface that answered.', '1.0.0'), required: true },
  'X-Stability': textHeader('`experimental` or `beta`: how settled the operation is.', 'experimental'),
  Deprecation: textHeader('When the operation was deprecated (RFC 9745).', '@1795219200'),
  Sunset: textHeader('From when on it answers 410 (RFC 8594).', 'Thu, 05 Dec 2030 00:00:00 GMT'),
  Link: textHeader(
    'Related URLs (RFC 8288): `next` page, `successor-version` of the operation, `deprecation` notice.',
    '</pets?limit=20&cursor=WyJpZCIsMjBd>; rel="next"',
  ),
  ETag: textHeader(
    'A strong tag of this state of the resource, for If-Match and If-None-Match.',
    '"9c1e5f0a7b3d2e48"',
  ),
  Location: textHeader('The path of the new resource.', '/pets/1'),
  'Idempotency-Replayed': textHeader('`true` when the response repeats an earlier outcome.', 'true'),
  'Retry-After': {
    description: 'Whole seconds after which the request may be tried again.',
    schema: { type: 'integer', minimum: 1 },
    example: 30,
  },
  'WWW-Authenticate': textHeader('How to authenticate (RFC 6750).', 'Bearer realm="petstore"'),
};

export type HeaderName = keyof typeof headerComponents;

const EVERY_RESPONSE: readonly HeaderName[] = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'RateLimit-Policy',
  'RateLimit',
  'X-Request-Id',
  'API-Version',
];

/** The headers of every response, and these. */
export function headers(names: readonly HeaderName[]): Record<string, object> {
  return Object.fromEntries(
    [...EVERY_RESPONSE, ...names].map(name => [name, { $ref: `#/components/headers/${name}` }]),
  );
}
