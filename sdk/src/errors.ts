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
}

/** The service rejected the request: the class of its status is one of the classes below. */
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
/** A delivery to a webhook does not come from the service, or is too old. */
export class WebhookVerificationError extends PetStoreError {}

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

/** Returns the error of a response that is not a success. `text` is its body. */
export function errorOf({ status, headers }: Response, text: string): ApiError {
  // Proxies send errors in formats of their own.
  const { code, message } = text.startsWith('{"code":') ? JSON.parse(text) : {};
  const wait = retryAfter(headers);
  const failed = headers.get('X-Failed-Operation');
  return errorWith(message ?? `The status is ${status}`, {
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
 * Returns the milliseconds of `Retry-After`; 0 without a number of seconds. The service sends no dates (RFC 9110,
 * section 10.2.3), and those of a proxy need a correct clock.
 */
export function retryAfter(headers: Headers | undefined): number {
  return Math.max(0, Number(headers?.get('Retry-After'))) * 1000 || 0;
}

/** The last time that a `Date` can have. */
const LAST_TIME = 8.64e15;

/** The time in some milliseconds, by the clock of this machine. */
export function dateAfter(milliseconds: number): Date {
  return new Date(Math.min(Date.now() + milliseconds, LAST_TIME));
}
