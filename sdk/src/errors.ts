import type { ErrorCode } from './contract.ts';

/** What is known about an error. */
export interface ErrorDetails {
  /** The code of the contract. Responses that are not the service's own, such as those of a proxy, have none. */
  code?: ErrorCode | undefined;
  /** The HTTP status; `undefined` without a response. */
  status?: number | undefined;
  /** The `X-Request-Id` of the response, under which the service's log has the request. */
  requestId?: string | undefined;
  /** The index of the operation for which a batch was undone, counted from 0. */
  failedOperation?: number | undefined;
  /** When the request can be sent again, by the clock of this machine; `undefined` if that is not known. */
  retryAt?: Date | undefined;
}

/** Every error that the client throws, except the reason of an aborted signal. */
export class PetStoreError extends Error implements ErrorDetails {
  declare readonly code: ErrorCode | undefined;
  declare readonly status: number | undefined;
  declare readonly requestId: string | undefined;
  declare readonly failedOperation: number | undefined;
  declare readonly retryAt: Date | undefined;

  constructor(message: string, details: ErrorDetails & { cause?: unknown } = {}) {
    super(message, details);
    Object.assign(this, details);
  }

  /** The names of classes do not survive minification. */
  override get name(): string {
    return 'PetStoreError';
  }

  /** The message with what finds the request in the log of the service. */
  override toString(): string {
    const { code, status, requestId } = this;
    return [super.toString(), code, status, requestId].filter(part => part).join(' | ');
  }
}

/**
 * The service rejected the request: the class of its status is one of the classes below. Without a `code`, the response does not come
 * from the service: `message` has its URL and its first words.
 */
export class ApiError extends PetStoreError {}
/** 400, 422 and other 4xx: the request breaks a rule. The message names the field and the rule. */
export class ValidationError extends ApiError {}
/** 401: the API key is missing, mistyped, expired or revoked. */
export class AuthenticationError extends ApiError {}
/** 403: the API key may not do this. */
export class PermissionError extends ApiError {}
/** 404: the resource does not exist. */
export class NotFoundError extends ApiError {}
/** 409: the state of a resource does not allow the request. */
export class ConflictError extends ApiError {}
/** 410: the operation has ended, or a cursor's events have expired or were lost when the service was restored. */
export class GoneError extends ApiError {}
/** 412: the resource has changed since the ETag in `ifMatch` was read. */
export class PreconditionError extends ApiError {}
/** 304: the resource still has the ETag in `ifNoneMatch`. */
export class NotModified extends ApiError {}
/** 429: a limit. `retryAt` is the end of the wait. */
export class RateLimitError extends ApiError {}
/** 5xx: the service, or a proxy before it, failed. */
export class ServerError extends ApiError {}

/** The limits require a wait that is longer than `maxWait`, until `retryAt`. The client sent nothing, or got a 429. */
export class WaitTooLongError extends RateLimitError {}
/** No response arrived: the service was not reachable, or the connection broke. `cause` is the error of `fetch`. */
export class ConnectionError extends PetStoreError {}

const classes: Record<number, typeof ApiError> = {
  304: NotModified,
  401: AuthenticationError,
  403: PermissionError,
  404: NotFoundError,
  409: ConflictError,
  410: GoneError,
  412: PreconditionError,
  429: RateLimitError,
};

/** How many characters of a foreign body a message has. */
const EXCERPT = 99;

/** Returns the error of a response from a URL that is not a success, or not from the service. `text` is its body. */
export function errorOf({ status, headers }: Response, text: string, url: string): ApiError {
  // Proxies send errors in formats of their own.
  const { code, message } = text.startsWith('{"code":"') ? JSON.parse(text) : {};
  const location = headers.get('Location');
  const wait = retryAfter(headers);
  const failed = headers.get('X-Failed-Operation');
  // A page of a browser does not get the status of a redirect.
  const foreign = `Not a response of the service: ${status || 'a redirect'} from ${url}${location ? ` to ${location}` : ''}: ${text.trim().slice(0, EXCERPT)}`;
  return errorWith(message ?? (status === 304 ? 'Not modified' : foreign), {
    code,
    status,
    requestId: headers.get('X-Request-Id') ?? undefined,
    failedOperation: failed ? Number(failed) : undefined,
    retryAt: wait ? dateAfter(wait) : undefined,
  });
}

/** Returns an error of the class of its status. */
export function errorWith(message: string, details: ErrorDetails & { status: number }): ApiError {
  const { status } = details;
  const Class = classes[status] ?? (status < 400 ? ApiError : status < 500 ? ValidationError : ServerError);
  return new Class(message, details);
}

/**
 * Returns the milliseconds of `Retry-After` (RFC 9110, section 10.2.3); 0 without it. A date of a proxy counts from the `Date` of the
 * response, so that a wrong clock of this machine changes nothing; pages of browsers do not see `Date`.
 */
export function retryAfter(headers: Headers | undefined): number {
  const text = headers?.get('Retry-After') ?? '';
  const now = Date.parse(headers?.get('Date') ?? '') || Date.now();
  return Math.max(0, Number(text) * 1000 || Date.parse(text) - now) || 0;
}

/** The last time that a `Date` can have. */
const LAST_TIME = 8.64e15;

/** The time in some milliseconds, by the clock of this machine. */
export function dateAfter(milliseconds: number): Date {
  return new Date(Math.min(Date.now() + milliseconds, LAST_TIME));
}
