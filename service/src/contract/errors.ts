import { keysOf } from '../kit/objects.ts';
import { withHiddenEscaped } from './display-text.ts';
import { type ErrorCode, errorCatalogue } from './error-catalogue.ts';

/** The schema of a code in a response. */
export const errorCode = {
  type: 'string',
  maxLength: 50,
  pattern: '^[a-z]+(_[a-z]+)*$',
  knownValues: keysOf(errorCatalogue),
} as const;

/**
 * An error that is returned to the client: a `code` of the catalogue, and a `message` with the problem and the remedy. The message often
 * repeats a text of the client, so it escapes what would be invisible there, reorder the message or control a terminal.
 */
export class ApiError extends Error {
  readonly code: ErrorCode;
  /** Response headers of this error, such as `Allow`. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ErrorCode, message: string, headers: Record<string, string> = {}) {
    // No stack trace: it is never read, and creating it would cost more than the rest of the rejection.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(withHiddenEscaped(message));
    Error.stackTraceLimit = stackTraceLimit;
    this.name = 'ApiError';
    this.code = code;
    this.headers = headers;
  }
}
