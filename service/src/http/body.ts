import type { FastifyInstance } from 'fastify';
import { ApiError } from '../contract/errors.ts';
import { MERGE_PATCH } from '../contract/media-types.ts';
import { BODY_LIMIT } from '../contract/request-limits.ts';
import { asError } from '../kit/thrown.ts';
import { parseJson, utf8Text } from './json.ts';
import { shown, shownName } from './quoting.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The JSON text of the body, from which messages quote numbers; empty without a body. */
    bodyText: string;
  }
}

const JSON_PATCH = 'application/json-patch+json';

/** Replaces the server's body parsers with one strict parser for JSON. */
export function readJsonBodies(server: FastifyInstance): void {
  server.decorateRequest('bodyText', '');
  server.removeAllContentTypeParsers();
  server.addContentTypeParser<Buffer>(
    ['application/json', MERGE_PATCH, JSON_PATCH],
    { parseAs: 'buffer', bodyLimit: BODY_LIMIT },
    (request, bytes, done) => {
      try {
        rejectUnsupportedFormat(request.method, request.headers);
        request.bodyText = utf8Text(bytes);
        const value = parseJson(request.bodyText);
        // To parse a large body takes milliseconds, and the next step is work as well.
        if (bytes.length > BODY_LIMIT) setImmediate(done, null, value);
        else done(null, value);
      } catch (error) {
        done(asError(error));
      }
    },
  );
}

/** The type that `curl -d` sends unless it has another one. */
const FORM = 'application/x-www-form-urlencoded';

/** The error for a body whose type has no parser. */
export function unsupportedType(contentType = ''): ApiError {
  const type = contentType.split(';', 1)[0]!.trim().toLowerCase();
  const header = "'Content-Type: application/json'";
  const remedy = type === FORM ? `add -H ${header} to curl` : `send the header ${header}`;
  const sent =
    type === ''
      ? 'it has no type'
      : `it was ${/^[\w.+-]{1,40}\/[\w.+-]{1,40}$/.test(type) ? type : shown(type)}`;
  return new ApiError('unsupported_media_type', `Send the body as application/json; ${sent}: ${remedy}`);
}

function rejectUnsupportedFormat(
  method: string,
  headers: Record<string, string | string[] | undefined>,
): void {
  const type = String(headers['content-type']).toLowerCase();
  if (type.startsWith(MERGE_PATCH) && method !== 'PATCH') {
    throw new ApiError(
      'unsupported_media_type',
      `Media type ${MERGE_PATCH} is for PATCH only; send application/json`,
    );
  }
  if (type.startsWith(JSON_PATCH)) {
    throw new ApiError(
      'unsupported_media_type',
      `JSON Patch is not supported: send a JSON merge patch (RFC 7396) as ${MERGE_PATCH}`,
    );
  }
  const charset = /;\s*charset\s*=\s*"?([^";\s]*)/.exec(type)?.[1];
  if (charset !== undefined && charset !== 'utf-8' && charset !== 'utf8') {
    throw new ApiError('unsupported_media_type', `Send JSON in UTF-8, not in ${shownName(charset)}`);
  }
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && String(encoding).toLowerCase() !== 'identity') {
    throw new ApiError('unsupported_media_type', `Send the body without Content-Encoding ${shown(encoding)}`);
  }
}
