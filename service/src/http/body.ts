import { isUtf8 } from 'node:buffer';
import type { FastifyInstance } from 'fastify';
import { ApiError } from '../contract/errors.ts';
import { shown, shownName } from './validate.ts';

/** The most bytes a body may have. */
export const BODY_LIMIT = 64 * 1024;

/** How deep a body may nest: the deepest shape of the contract has 2 levels. */
const MAX_DEPTH = 32;

export const MERGE_PATCH = 'application/merge-patch+json';

/** Replaces the server's body parsers by one for JSON that refuses what is not plainly JSON text. */
export function readJsonBodies(server: FastifyInstance): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser<Buffer>(
    ['application/json', MERGE_PATCH],
    { parseAs: 'buffer', bodyLimit: BODY_LIMIT },
    (request, bytes, done) => {
      try {
        refuseForm(request.method, request.headers);
        done(null, parseJson(bytes));
      } catch (error) {
        done(error as Error);
      }
    },
  );
}

function refuseForm(method: string, headers: Record<string, string | string[] | undefined>): void {
  const type = String(headers['content-type']).toLowerCase();
  if (type.startsWith(MERGE_PATCH) && method !== 'PATCH') {
    throw new ApiError('unsupported_media_type', `${MERGE_PATCH} is for PATCH; send application/json`);
  }
  const charset = /;\s*charset\s*=\s*"?([^";\s]*)/.exec(type)?.[1];
  if (charset !== undefined && charset !== 'utf-8' && charset !== 'utf8') {
    throw new ApiError('unsupported_media_type', `JSON is sent in UTF-8, not in ${shownName(charset)}`);
  }
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && String(encoding).toLowerCase() !== 'identity') {
    throw new ApiError(
      'unsupported_media_type',
      `Send the body as it is, without Content-Encoding ${shown(encoding)}`,
    );
  }
}

/** The value of a JSON text; `undefined` for an empty body. Throws `invalid_request`. */
export function parseJson(bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined;
  if (!isUtf8(bytes)) throw new ApiError('invalid_request', 'The body is not valid UTF-8');
  const text = bytes.toString('utf8');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new ApiError('invalid_request', `The body is not valid JSON: ${(error as Error).message}`);
  }
  refuseRepeatedNames(text);
  // Only an escape can smuggle a lone surrogate past the UTF-8 check.
  refuseUnfit(value, '', /\\u[dD][89a-fA-F]/.test(text), 0);
  return value;
}

/** A string, with the colon that makes it a name; or where an object begins or ends. */
const TOKEN = /"(?:[^"\\]|\\.)*"(\s*:)?|[{}]/g;

/** Which of two fields of one name counts is up to the reader (RFC 8259 §4), so neither is taken. `json` is valid. */
function refuseRepeatedNames(json: string): void {
  const open: Set<string>[] = [];
  for (const [token, colon] of json.matchAll(TOKEN)) {
    if (token === '{') open.push(new Set());
    else if (token === '}') open.pop();
    else if (colon) {
      const name: string = JSON.parse(token.slice(0, -colon.length));
      const names = open.at(-1)!;
      if (names.has(name)) throw new ApiError('invalid_request', `field ${shownName(name)} is there twice`);
      names.add(name);
    }
  }
}

function refuseUnfit(value: unknown, path: string, checkText: boolean, depth: number): void {
  if (typeof value === 'string') {
    if (checkText && !value.isWellFormed()) {
      throw new ApiError(
        'invalid_request',
        `${path || 'The body'} holds half of a surrogate pair, which is no character`,
      );
    }
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  if (depth >= MAX_DEPTH) {
    throw new ApiError('invalid_request', `The body nests deeper than ${MAX_DEPTH} levels`);
  }
  for (const [name, item] of Object.entries(value)) {
    if (checkText && !name.isWellFormed()) {
      throw new ApiError(
        'invalid_request',
        'A field name holds half of a surrogate pair, which is no character',
      );
    }
    refuseUnfit(item, path === '' ? `field \`${name}\`` : path, checkText, depth + 1);
  }
}
