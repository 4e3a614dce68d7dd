import { ConfigError } from '../config.ts';
import { ApiError } from '../contract/errors.ts';
import { DatabaseUnavailable, StoreUnavailable, UnusableStore } from '../db/database.ts';
import { StoreInUse } from '../db/store-lock.ts';

/** An error that the caller of a command can correct. It is reported in one sentence, without a stack trace. */
export class UsageError extends Error {}

/** A failure caused by the environment. It is reported in a sentence or a list, without a stack trace. */
export class CommandFailed extends Error {}

/**
 * Reports why a command failed, and sets the exit code: 2 for a setting or argument that the caller can correct; 1 for other
 * causes, such as another process, a full disk or an unavailable server, and for a fault of the program, with a stack trace.
 */
export function reportFailure(error: unknown): void {
  if (error instanceof CommandFailed || error instanceof StoreInUse || error instanceof StoreUnavailable) {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  } else if (error instanceof DatabaseUnavailable) {
    process.stderr.write(`${error.message} (${error.reason})\n`);
    process.exitCode = 1;
  } else if (
    error instanceof ConfigError ||
    error instanceof UsageError ||
    error instanceof ApiError ||
    error instanceof UnusableStore
  ) {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 2;
  } else {
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : error}\n`);
    process.exitCode = 1;
  }
}
