import { CommandFailed } from './failure.ts';

/** Runs work that leaves nothing behind when its signal is aborted, which SIGINT and SIGTERM do meanwhile. */
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
