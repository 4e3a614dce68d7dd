import { ConfigError } from '../config.ts';
import { ApiError } from '../contract/errors.ts';
import { UnusableStore } from '../db/database.ts';

/** What the caller of a command can mend: told in one sentence, without a stack trace. */
export class UsageError extends Error {}

/** Says why a command failed, and sets the exit code: 2 for what the caller can mend, 1 for a fault. */
export function reportFailure(error: unknown): void {
  if (
    error instanceof ConfigError ||
    error instanceof UsageError ||
    error instanceof ApiError ||
    error instanceof UnusableStore ||
    isParseArgs(error)
  ) {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 2;
  } else {
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : error}\n`);
    process.exitCode = 1;
  }
}

function isParseArgs(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS');
}
