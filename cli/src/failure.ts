import {
  ApiError,
  AuthenticationError,
  ConflictError,
  ConnectionError,
  GoneError,
  NotFoundError,
  NotModified,
  PermissionError,
  PetStoreError,
  PreconditionError,
  RateLimitError,
  ValidationError,
  WaitTooLongError,
} from '@petstore/client';
import { printable } from './printable.ts';

/** What the command's process returns. README.md and the help list the same numbers. */
export const exitCodes = {
  success: 0,
  other: 1,
  usage: 2,
  authentication: 3,
  notFound: 4,
  conflict: 5,
  limit: 6,
  partial: 7,
  interrupted: 130,
} as const;

/** The meaning of each exit code, for the help. */
export const meanings = [
  [exitCodes.success, 'success'],
  [exitCodes.other, 'another failure, such as a service that cannot be reached'],
  [exitCodes.usage, 'usage: the command is incorrect, or the service rejects a value'],
  [exitCodes.authentication, 'authentication: the key is missing or not valid, or it may not do this'],
  [exitCodes.notFound, 'not found'],
  [exitCodes.conflict, 'conflict: the state of the resource does not allow it'],
  [exitCodes.limit, 'limit: the wait would be longer than --max-wait'],
  [exitCodes.partial, 'partial failure: some items failed, others did not'],
  [exitCodes.interrupted, 'interrupted with Ctrl-C, or with Ctrl-D at a question'],
] as const;

/** The command cannot be understood, or lacks something. */
export class UsageError extends Error {}

/** No API key is known, or the file with the keys is not safe. */
export class LoginError extends Error {}

/** An import cannot be started or continued, because of its file, its journal or another import. */
export class ImportError extends Error {}

/** Some items of a command failed. `exitCode` is that of the first failure if all of them failed. */
export class PartialError extends Error {
  readonly exitCode: number;

  constructor(message: string, exitCode: number) {
    super(message);
    this.exitCode = exitCode;
  }
}

type Class = abstract new (...values: never[]) => Error;

const codes: readonly (readonly [Class, number])[] = [
  [UsageError, exitCodes.usage],
  [ValidationError, exitCodes.usage],
  [LoginError, exitCodes.authentication],
  [AuthenticationError, exitCodes.authentication],
  [PermissionError, exitCodes.authentication],
  [NotFoundError, exitCodes.notFound],
  [GoneError, exitCodes.notFound],
  [ImportError, exitCodes.conflict],
  [ConflictError, exitCodes.conflict],
  [PreconditionError, exitCodes.conflict],
  [RateLimitError, exitCodes.limit],
  [ApiError, exitCodes.other],
  [ConnectionError, exitCodes.other],
  // The client has rejected the call, and sent nothing.
  [PetStoreError, exitCodes.usage],
];

export function exitCodeOf(error: unknown): number {
  if (error instanceof PartialError) return error.exitCode;
  return codes.find(([Class]) => error instanceof Class)?.[1] ?? exitCodes.other;
}

/** The message of an error. That of the client about a long wait names the client's option. */
function messageOf(error: Error): string {
  return error instanceof WaitTooLongError
    ? 'The command would have to wait for a limit for longer than --max-wait allows'
    : error.message;
}

/** Describes an error for people: the problem with the code of the contract, the request ID, and the remedy. */
export function describe(error: unknown, url?: string): string {
  if (!(error instanceof Error)) return printable(String(error));
  const lines = [messageOf(error)];
  if (error instanceof PetStoreError) {
    if (error.code) lines[0] += ` (${error.code})`;
    const remedy = remedyOf(error, url);
    if (remedy) lines.push(remedy);
    if (error.requestId) lines.push(`Request ID: ${error.requestId}`);
  }
  return lines.map(printable).join('\n');
}

/** What `describe` states, for programs. The names are those of the service's errors. */
export function detailsOf(error: unknown, url?: string): object {
  const exitCode = exitCodeOf(error);
  if (!(error instanceof PetStoreError)) return { message: (error as Error).message, exitCode };
  const { code, status, requestId, retryAt } = error;
  const message = messageOf(error);
  return { code, message, status, requestId, retryAt, remedy: remedyOf(error, url), exitCode };
}

/** What helps in addition to the service's message. */
function remedyOf(error: PetStoreError, url: string | undefined): string | undefined {
  if (error instanceof AuthenticationError)
    return 'Run `petstore login`, or set PETSTORE_API_KEY to another key';
  if (error instanceof WaitTooLongError) {
    const seconds = Math.ceil((error.retryAt!.getTime() - Date.now()) / 1000);
    return `Try again in ${seconds} s, or wait with \`--max-wait ${seconds + 1}s\``;
  }
  if (error instanceof ConnectionError)
    return `Check that the service runs at ${url}, or choose another one with --url or PETSTORE_URL`;
  if (!(error instanceof ApiError) || error instanceof NotModified || error.code !== undefined)
    return undefined;
  return `The response does not come from a pet store: check the URL, ${url}`;
}
