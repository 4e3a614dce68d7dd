import type { PetStore } from '@petstore/client';
import { CommanderError } from 'commander';
import { colorsOf } from './colors.ts';
import type { Command, Context } from './command.ts';
import { complete } from './complete.ts';
import { type Connection, connect, connectionOf } from './connection.ts';
import { describe, exitCodeOf, exitCodes } from './failure.ts';
import { itemsOf } from './items.ts';
import { checkFields, print } from './output.ts';
import type { ValuesOf } from './parameters.ts';
import { createProgram } from './program.ts';
import type { Settings } from './settings.ts';
import type { implied, shared } from './shared-options.ts';

/** The number of items that lists print without `--limit`. */
const DEFAULT_LIMIT = 20;

const { env: environment, stdout, stderr } = process;
const interruption = new AbortController();
/** The service of the command, for messages. */
let url: string | undefined;

process.exitCode = await main(process.argv.slice(2));
// The timer of a wait would keep the process running.
if (interruption.signal.aborted) process.exit();

async function main(words: readonly string[]): Promise<number> {
  endWithReader(stdout);
  process.once('SIGINT', () => interruption.abort(new Error('Interrupted')));
  try {
    if (words[0] === '__complete') {
      for (const candidate of complete(words.slice(1))) stdout.write(`${candidate.join('\t')}\n`);
      return exitCodes.success;
    }
    const width = Number(environment.COLUMNS) || stdout.columns || 80;
    const program = createProgram(execute, { width, colors: colorsOf(stdout, environment) });
    await program.parseAsync(negativesLast(words), { from: 'user' });
    return exitCodes.success;
  } catch (error) {
    if (interruption.signal.aborted) return exitCodes.interrupted;
    // The parser has printed the help or its message.
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.success : exitCodes.usage;
    report(error);
    return exitCodeOf(error);
  }
}

/** The values of the options that are not in the definitions of the commands. */
type Values = Partial<ValuesOf<typeof shared> & ValuesOf<typeof implied> & { raw: boolean }>;

async function execute(command: Command, values: Values): Promise<void> {
  const settings = settingsOf(values);
  checkFields(command, settings.fields);
  const note = (message: string) => {
    if (!settings.isQuiet) stderr.write(`${message}\n`);
  };
  const context = contextOf(command, values, settings, note);
  // The parser gives a command exactly the values that its definition describes.
  const items = command.run(context, values as never);
  let hasMore = false;
  const onMore = () => {
    hasMore = true;
  };
  await print(command, itemsOf(items, context.limit, onMore), settings, stdout);
  if (hasMore) note('There are more: choose how many with --limit, or use --all');
}

function contextOf(
  command: Command,
  { limit, all, idempotencyKey }: Values,
  settings: Settings,
  note: (message: string) => void,
): Context {
  const usual = command.output === 'list' ? DEFAULT_LIMIT : Number.POSITIVE_INFINITY;
  let connection: Connection | undefined;
  let store: PetStore | undefined;
  return {
    get connection() {
      connection ??= connectionOf(settings, command.needsNoKey);
      url = connection.url;
      return connection;
    },
    get store() {
      store ??= connect(this.connection, settings, { note });
      return store;
    },
    connect(options) {
      return connect(this.connection, settings, options);
    },
    calls: { signal: interruption.signal, idempotencyKey },
    limit: all ? Number.POSITIVE_INFINITY : (limit ?? usual),
    settings,
    note,
    fail: report,
  };
}

function settingsOf({ fields, profile, ...values }: Values): Settings {
  return {
    url: values.url,
    apiKeyFile: values.apiKeyFile,
    profile,
    isJson: values.json === true,
    fields: fields?.split(',').map(name => name.trim()),
    isQuiet: values.quiet === true,
    maxWait: values.maxWait,
    format: values.format,
    isRaw: values.raw === true,
    environment,
  };
}

/** Writes an error to standard error. */
function report(error: unknown): void {
  const { red } = colorsOf(stderr, environment);
  stderr.write(`${red('Error:')} ${describe(error, url)}\n`);
}

/**
 * Moves negative numbers to the end, after `--`: they are the last arguments of the commands that take them, and would be
 * options otherwise.
 */
function negativesLast(words: readonly string[]): string[] {
  const isNegative = (word: string) => /^-\d+$/.test(word);
  if (words.includes('--') || !words.some(isNegative)) return [...words];
  return [...words.filter(word => !isNegative(word)), '--', ...words.filter(isNegative)];
}

/** `head` and `less` close the pipe when they have read enough, which is not a failure. */
function endWithReader(stream: NodeJS.WriteStream): void {
  stream.on('error', error => {
    if ((error as NodeJS.ErrnoException).code === 'EPIPE') process.exit(exitCodes.success);
    throw error;
  });
}
