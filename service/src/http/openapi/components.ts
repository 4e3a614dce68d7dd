import { errorCatalogue } from '../../contract/error-catalogue.ts';
import { KEY_HEADER, KEY_LENGTH, RETENTION } from '../../contract/idempotency-key.ts';
import { HEADERS_LIMIT } from '../../contract/request-limits.ts';
import type { Schema } from '../../contract/schema.ts';
import { scopes } from '../../contract/scopes.ts';
import { acceptedVersions } from '../../contract/version.ts';
import { REQUEST_ID } from '../../kit/ids.ts';
import { keysOf } from '../../kit/objects.ts';
import { inWords } from '../../kit/quantities.ts';
import { ENTITY_TAGS } from '../../routes/conditional.ts';
import { headerComponents } from './headers.ts';
import { sharedResponses } from './responses.ts';
import type { NamedSchemas } from './schemas.ts';

/** Parameters that operations share, by component name. */
export const parameterComponents = {
  ApiVersion: parameter(
    'API-Version',
    'The version of the API that the client was written for.',
    { enum: [...acceptedVersions] },
    '1',
  ),
  RequestId: parameter(
    'X-Request-Id',
    'Your own ID for this request. It appears in the log and in the response. An ID in another form is replaced by a new one.',
    { maxLength: 128, pattern: REQUEST_ID },
    'order-2041',
  ),
  IfMatch: parameter(
    'If-Match',
    'The resource is read or changed only if it still has this ETag; otherwise the response is 412.',
    { maxLength: HEADERS_LIMIT, pattern: ENTITY_TAGS },
    '"9c1e5f0a7b3d2e48"',
  ),
  IfNoneMatch: parameter(
    'If-None-Match',
    'Returns 304 if the resource still has this ETag.',
    { maxLength: HEADERS_LIMIT },
    '"9c1e5f0a7b3d2e48"',
  ),
  IdempotencyKey: parameter(
    'Idempotency-Key',
    `Makes the request repeatable: the first successful response is stored for ${inWords(RETENTION)} and returned again. ` +
      `1–${KEY_LENGTH} printable ASCII characters, with or without quotation marks around them.`,
    { minLength: 1, maxLength: KEY_LENGTH + 2, pattern: KEY_HEADER },
    'order-2041-attempt',
  ),
};

function parameter(name: string, description: string, rules: Partial<Schema>, example: string) {
  return { name, in: 'header', description, schema: { type: 'string', ...rules }, example };
}

export function components(schemas: NamedSchemas): object {
  const responses = sharedResponses(schemas);
  return {
    schemas: schemas.components(),
    responses,
    parameters: parameterComponents,
    headers: headerComponents,
    securitySchemes: {
      apiKey: {
        type: 'apiKey',
        in: 'header',
        name: 'X-API-Key',
        description: `An API key with the scopes that the operation requires.\n\n${scopeTable()}`,
      },
      bearer: { type: 'http', scheme: 'bearer', description: 'The same API key as a Bearer token.' },
    },
  };
}

/** Every error code with its status and its meaning. */
export function errorCodes(): Record<string, { status: number; description: string }> {
  return Object.fromEntries(
    keysOf(errorCatalogue).map(code => [
      code,
      { status: errorCatalogue[code].status, description: errorCatalogue[code].meaning },
    ]),
  );
}

function scopeTable(): string {
  const rows = Object.entries(scopes).map(([scope, meaning]) => `| \`${scope}\` | ${meaning} |`);
  return ['| Scope | Allows |', '|---|---|', ...rows].join('\n');
}
