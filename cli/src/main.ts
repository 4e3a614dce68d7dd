import { exitCodes } from './failure.ts';
import { configDirectory } from './profiles.ts';
import { Run } from './run.ts';

const { env: environment, stdout, stderr } = process;
const interruption = new AbortController();

process.once('SIGINT', () => interruption.abort(new Error('Interrupted')));
const run = new Run({
  environment,
  configDirectory: configDirectory(),
  stdout,
  stderr,
  signal: interruption.signal,
});
stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
  // `head` and `less` close the pipe when they have read enough, which is not a failure.
  if (code === 'EPIPE') process.exit(exitCodes.success);
  run.report(new Error(`The output cannot be written: ${message}`));
  process.exit(exitCodes.other);
});
// The command continues without its notes.
stderr.on('error', () => {});
// Ctrl-D at a question ends the process before the command.
process.exitCode = exitCodes.interrupted;
process.exitCode = await run.run(process.argv.slice(2));
// A connection that is being opened, or the look-up of a name, would keep the process running.
if (interruption.signal.aborted) process.exit();
