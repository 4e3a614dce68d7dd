import type { FastifyReply, FastifyRequest } from 'fastify';
import { type ErrorCode, errorCatalogue } from '../contract/error-catalogue.ts';
import { ApiError } from '../contract/errors.ts';
import { acceptPatch } from '../contract/media-types.ts';
import type { Operation } from '../contract/operation.ts';
import { BODY_LIMIT } from '../contract/request-limits.ts';
import { withoutSecrets } from '../contract/secret-forms.ts';
import { DatabaseUnavailable } from '../db/database.ts';
import { InvalidListing, MAX_COUNTED, type Page } from '../kit/paging.ts';
import { inBinaryUnitAndBytes } from '../kit/quantities.ts';
import { etagOf, isNotModified } from '../routes/conditional.ts';
import type { ContentReply, LogReply, PageReply, Reply, StreamReply } from '../routes/reply.ts';
import { unsupportedType } from './body.ts';
import { withIdsAsSent } from './quoting.ts';
import { sendWhole } from './send.ts';
import { headersInDoubt, shouldRetry } from './should-retry.ts';

const JSON_TYPE = 'application/json; charset=utf-8';

/** A response before it is sent. */
export interface Response {
  status: number;
  headers: Record<string, string>;
  /** Missing in a response without a body (204, 304). */
  body?: string | Buffer;
}

/** A page, or a part of it, with its items as they are sent. */
export interface JsonPage extends Page<string> {
  /** The JSON text of the only item that can be on the page, whose ETag the response has. */
  single?: string | undefined;
}

/** The response to a request that failed. */
interface ErrorResponse extends Response {
  code: ErrorCode;
  body: string;
}

/** Makes the response from a handler's reply. */
export function responseOf(
  route: Pick<Operation, 'conditional' | 'shownOnce'>,
  result: Exclude<Reply, ContentReply | PageReply<object> | LogReply<object> | StreamReply>,
  request: FastifyRequest,
): Response {
  switch (result.kind) {
    case 'resource': {
      const body = JSON.stringify(result.body);
      return responseWith(route.conditional ? etagOf(body) : undefined, {}, body, request);
    }
    case 'created': {
      const body = JSON.stringify(result.body);
      const headers: Record<string, string> = { location: result.location };
      if (route.conditional)
        headers.etag = etagOf(route.shownOnce ? withoutFields(result.body, route.shownOnce) : body);
      return { status: 201, headers, body };
    }
    case 'empty':
      return { status: 204, headers: {} };
  }
}

/** Makes the response with a page, whose items are JSON texts. `body` has all of them. */
export function pageResponse(page: JsonPage, body: string | Buffer, request: FastifyRequest): Response {
  const etag = page.single === undefined ? undefined : etagOf(page.single);
  return responseWith(etag, pageHeaders(request, page), body, request);
}

/** The JSON text of a resource as later reads return it: without the fields that are shown once. */
function withoutFields(resource: object, shownOnce: readonly string[]): string {
  return JSON.stringify(resource, (field, value) => (shownOnce.includes(field) ? undefined : value));
}

/**
 * The response with a state of a resource, or with a list without an ETag. A read is subject to its preconditions: it is a 304 if the client
 * already has this state.
 */
function responseWith(
  etag: string | undefined,
  headers: Record<string, string>,
  body: string | Buffer,
  request: FastifyRequest,
): Response {
  if (etag !== undefined) headers.etag = etag;
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  return isRead && isNotModified(request.headers, etag)
    ? { status: 304, headers }
    : { status: 200, headers, body };
}

/** Sends a response. Only successful reads may be cached, and only by the client itself. */
export function send(
  request: FastifyRequest,
  reply: FastifyReply,
  { status, headers, body }: Response,
): void {
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  headers['cache-control'] = isRead && status < 400 ? 'private, no-cache' : 'no-store';
  if (body !== undefined) headers['content-type'] ??= JSON_TYPE;
  sendWhole(request, reply, status, headers, body);
}

/** What an error response reads from its request. The server has no route for a request that it could not read. */
type FailedRequest = Pick<FastifyRequest, 'id'> &
  Partial<Pick<FastifyRequest, 'headers' | 'method' | 'params' | 'routeOptions'>>;

/** The response for `error`. An internal error shows only the request ID. */
export function errorResponse(error: unknown, request: FailedRequest): ErrorResponse {
  const { method, params } = request;
  const { code, message, headers } = apiErrorOf(error, request);
  const shape = errorBody(code, withIdsAsSent(message, params));
  const retry = shouldRetry(code, headers);
  return {
    code,
    status: shape.status,
    headers: {
      ...(retry && { 'x-should-retry': retry }),
      ...headers,
      ...(code === 'unsupported_media_type' && method === 'PATCH' && acceptPatch),
    },
    body: JSON.stringify(shape),
  };
}

/** The body of an error. */
export function errorBody(
  code: ErrorCode,
  message: string,
): { code: ErrorCode; message: string; status: number } {
  return { code, message: withoutSecrets(message), status: errorCatalogue[code].status };
}

function apiErrorOf(error: unknown, request: FailedRequest): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof InvalidListing) return new ApiError('invalid_request', error.message);
  if (error instanceof DatabaseUnavailable) {
    const retry = error.what === 'unknown' ? headersInDoubt(request) : { 'retry-after': '1' };
    return new ApiError('service_unavailable', error.message, retry);
  }
  const failure = (error ?? {}) as Partial<Error & { code: string; statusCode: number }>;
  return frameworkError(failure, request);
}

/** The error for a request that the framework rejects. */
function frameworkError(
  { code = '', statusCode = 500, message = '' }: Partial<Error & { code: string; statusCode: number }>,
  { id, headers, routeOptions }: FailedRequest,
): ApiError {
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    return new ApiError(
      'payload_too_large',
      `The body is over ${inBinaryUnitAndBytes(routeOptions?.bodyLimit ?? BODY_LIMIT)}: send less, or several requests`,
    );
  }
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') {
    return unsupportedType(headers?.['content-type']);
  }
  if (/^FST_ERR_/.test(code) && statusCode < 500) return new ApiError('invalid_request', message);
  // The client disconnected while it was sending.
  if (code === 'ECONNRESET')
    return new ApiError(
      'invalid_request',
      'The connection closed before the request was complete: send it again',
    );
  return new ApiError('internal_error', `The service failed; its log has the reason under request ID ${id}`);
}

/** The link to the next page, and the number of items if they were counted. */
function pageHeaders({ url }: FastifyRequest, { next, total }: Page<unknown>): Record<string, string> {
  const headers: Record<string, string> = {};
  if (next !== undefined) headers.link = `<${nextUrl(url, next)}>; rel="next"`;
  if (total !== undefined) headers['x-total-count'] = String(Math.min(total, MAX_COUNTED));
  if (total !== undefined && total > MAX_COUNTED) headers['x-total-count-relation'] = 'gte';
  return headers;
}

function nextUrl(url: string, cursor: string): string {
  const queryStart = url.indexOf('?');
  const path = queryStart < 0 ? url : url.slice(0, queryStart);
  const parameters = new URLSearchParams(queryStart < 0 ? '' : url.slice(queryStart + 1));
  parameters.set('cursor', cursor);
  return `${path}?${parameters}`;
}
