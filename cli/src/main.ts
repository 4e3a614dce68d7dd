import { exitCodes } from './failure.ts';
import { configDirectory } from './profiles.ts';
import { run } from './run.ts';

const { env: environment, stdout, stderr } = process;
const interruption = new AbortController();

process.once('SIGINT', () => interruption.abort(new Error('Interrupted')));
stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
  // `head` and `less` close the pipe when they have read enough, which is not a failure.
  if (code === 'EPIPE') process.exit(exitCodes.success);
  stderr.write(`Error: The output cannot be written: ${message}\n`);
  process.exit(exitCodes.other);
});
process.exitCode = await run(process.argv.slice(2), {
  environment,
  configDirectory: configDirectory(),
  stdout,
  stderr,
  signal: interruption.signal,
});
// The timer of a wait would keep the process running.
if (interruption.signal.aborted) process.exit();
