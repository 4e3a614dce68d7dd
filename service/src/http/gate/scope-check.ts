import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { ApiError } from '../../contract/errors.ts';
import { canHave } from '../../contract/key-kinds.ts';
import { type Operation, requiredScopes } from '../../contract/operation.ts';
import { missingScopes, type Scope, scopesInWords } from '../../contract/scopes.ts';
import type { Caller } from '../../routes/context.ts';

/** Throws `insufficient_scope` unless the key has all scopes of an operation, and one of its `anyOfScopes`. */
export function rejectWithoutScope(
  { scope, anyOfScopes, countedBy }: Pick<Operation, 'scope' | 'anyOfScopes' | 'countedBy'>,
  { scopes, kind }: Caller,
): void {
  if (scopes.has('admin')) return;
  // Most operations need one scope, and most keys have it: lists of what is needed and missing would be garbage.
  if (anyOfScopes === undefined && scopes.has(scope as Scope)) return;
  if (scope === 'any' && kind === 'publishable') {
    throw new ApiError(
      'insufficient_scope',
      countedBy === 'account'
        ? 'A publishable key cannot read its account or request a plan, because every visitor of its pages could: use a secret ' +
            'key, or ask an administrator'
        : 'A publishable key can only read: call the operation from your backend, with a secret key',
    );
  }
  const missing = missingScopes(requiredScopes(scope), scopes);
  if (missing.length === 0) {
    rejectWithoutAny(anyOfScopes ?? [], scopes);
    return;
  }
  const them = missing.length > 1 ? 'them' : 'it';
  const canBeAdded = missing.every(needed => canHave(kind, needed));
  throw new ApiError(
    'insufficient_scope',
    `The API key lacks the ${scopesInWords(missing)}: ` +
      (canBeAdded
        ? `ask an administrator to add ${them}, or use another key`
        : `no ${kind} key can have ${them}, so call the operation ${kind === 'publishable' ? 'from your backend, ' : ''}with a secret key`),
  );
}

function rejectWithoutAny(wanted: readonly Scope[], scopes: ReadonlySet<Scope>): void {
  if (wanted.length === 0 || wanted.some(scope => scopes.has(scope))) return;
  throw new ApiError(
    'insufficient_scope',
    `The API key has none of the ${scopesInWords(wanted)}, and needs one of them: ask an administrator to add it, or use ` +
      'another key',
  );
}

/** The error for a request without a key. It names a place where the request may have one instead, and never repeats it. */
export function missingKey({ headers, url }: Pick<FastifyRequest, 'headers' | 'url'>): ApiError {
  return new ApiError(
    'missing_api_key',
    misplacedKey(headers, url) ??
      'Send an API key in the header X-API-Key, or as Authorization: Bearer <key>',
    {
      'www-authenticate': 'Bearer realm="petstore"',
    },
  );
}

function misplacedKey(headers: IncomingHttpHeaders, url: string): string | undefined {
  if (/[?&](api[-_]?key|key|token|access_token)=psk_/i.test(url))
    return 'The API key in the URL is ignored, and has leaked into logs: rotate it, and send the new one in the header X-API-Key';
  if (headers.authorization !== undefined)
    return 'Write `Authorization: Bearer <key>`, or send the API key in the header X-API-Key';
  const other = Object.keys(headers).find(
    name => name === 'api-key' || (name !== 'cookie' && String(headers[name]).startsWith('psk_')),
  );
  // A name can end with a full stop, so the message does not end with it.
  return other && `The header ${other} is ignored: send the API key in the header X-API-Key`;
}
