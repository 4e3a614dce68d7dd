import { CommandFailed } from './failure.ts';

/** Runs work with a signal that SIGINT and SIGTERM abort. The work must undo its changes when it is aborted. */
export async function interruptible<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const interrupt = (signal: NodeJS.Signals) =>
    controller.abort(new CommandFailed(`Interrupted by ${signal}: nothing was changed`));
  process.on('SIGINT', interrupt);
  process.on('SIGTERM', interrupt);
  try {
    return await work(controller.signal);
  } finally {
    process.off('SIGINT', interrupt);
    process.off('SIGTERM', interrupt);
  }
}
