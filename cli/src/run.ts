import type { PetStore } from '@petstore/client';
import { CommanderError } from 'commander';
import { canAsk, confirm } from './ask.ts';
import { colorsOf } from './colors.ts';
import type { Command, Context } from './command.ts';
import { commandOf, complete, takesValue } from './complete.ts';
import { type Connection, connect, connectionOf } from './connection.ts';
import { describe, detailsOf, exitCodeOf, exitCodes, UsageError } from './failure.ts';
import { itemsOf } from './items.ts';
import { checkFields, print } from './output.ts';
import type { ValuesOf } from './parameters.ts';
import { json } from './printable.ts';
import { createProgram, showHelp } from './program.ts';
import type { Settings, Surroundings } from './settings.ts';
import { type implied, optionsOf, type shared } from './shared-options.ts';
import { readStandardInput } from './standard-input.ts';

/** The number of items that lists print without `--limit`. */
const DEFAULT_LIMIT = 20;

/** The values of the options that are not in the definitions of the commands. */
type Values = Partial<ValuesOf<typeof shared> & ValuesOf<typeof implied> & { raw: boolean; csv: boolean }>;

/** A run of the command. */
export class Run {
  readonly #surroundings: Surroundings;
  /** The service of the command, for messages. */
  #url: string | undefined;
  /** Whether errors are JSON. Errors of the parser come before it knows the options. */
  #isJson = false;

  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings;
  }

  /** Runs the command that the words after `petstore` name. Returns the exit code. */
  async run(words: readonly string[]): Promise<number> {
    const { stdout, signal } = this.#surroundings;
    this.#isJson = words.slice(0, words.indexOf('--') + 1 || undefined).includes('--json');
    try {
      if (words[0] === '__complete') {
        for (const candidate of complete(words.slice(1))) stdout.write(`${candidate.join('\t')}\n`);
        return exitCodes.success;
      }
      const execute = (command: Command, values: Values) => this.#execute(command, values);
      const program = createProgram(
        execute,
        message => this.report(new UsageError(message)),
        this.#isJson,
        this.#surroundings,
      );
      if (words[0] === 'help') showHelp(program, words.slice(1));
      else await program.parseAsync(negativesLast(words), { from: 'user' });
      return exitCodes.success;
    } catch (error) {
      if (signal.aborted) return exitCodes.interrupted;
      // The parser has printed the help or its message.
      if (this.#isJson && error instanceof CommanderError && error.code === 'commander.help')
        this.report(new UsageError('The name of a command is missing: petstore --help lists all'));
      if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.success : exitCodes.usage;
      this.report(error);
      return exitCodeOf(error);
    }
  }

  async #execute(definition: Command, values: Values): Promise<void> {
    const command = shownCommand(definition, values);
    const { stdout, stderr, signal } = this.#surroundings;
    const settings = settingsOf(values, this.#surroundings);
    checkFields(command, settings.fields);
    const note = (message: string) => {
      if (!settings.isQuiet) stderr.write(`${message}\n`);
    };
    const context = this.#contextOf(command, values, settings, note);
    await confirmed(command, values, context);
    if (settings.apiKeyFile === '-') {
      const input = command.input?.(values as never);
      if (input !== undefined)
        throw new UsageError(`--api-key-file: standard input has ${input}: name a file`);
      settings.input = await readStandardInput(signal);
    }
    // The parser gives a command exactly the values that its definition describes.
    const items = command.run(context, values as never);
    let hasMore = false;
    const onMore = () => {
      hasMore = true;
    };
    let isEmpty = true;
    const onItem = () => {
      isEmpty = false;
    };
    await print(command, itemsOf(items, context.limit, onMore, onItem), settings, stdout);
    if (isEmpty && command.output === 'list' && stdout.isTTY) note('The list is empty');
    if (hasMore) note('There are more: choose how many with --limit, or use --all');
  }

  #contextOf(
    command: Command,
    { limit, all, idempotencyKey }: Values,
    settings: Settings,
    note: (message: string) => void,
  ): Context {
    const { stdout, stderr, signal } = this.#surroundings;
    const usual = command.output === 'list' ? DEFAULT_LIMIT : Number.POSITIVE_INFINITY;
    const open = () => {
      const connection = connectionOf(settings, command.needsNoKey);
      this.#url = connection.url;
      return connection;
    };
    let connection: Connection | undefined;
    let store: PetStore | undefined;
    return {
      get connection() {
        connection ??= open();
        return connection;
      },
      get store() {
        store ??= connect(this.connection, settings, { note });
        return store;
      },
      connect(options) {
        return connect(this.connection, settings, options);
      },
      calls: { signal, idempotencyKey },
      limit: all ? Number.POSITIVE_INFINITY : (limit ?? usual),
      settings,
      stdout,
      stderr,
      note,
      fail: error => this.report(error),
    };
  }

  /** Writes an error to standard error. */
  report(error: unknown): void {
    const { environment, stderr } = this.#surroundings;
    if (this.#isJson) {
      stderr.write(`${json(detailsOf(error, this.#url))}\n`);
      return;
    }
    const { red } = colorsOf(stderr, environment);
    stderr.write(`${red('Error:')} ${describe(error, this.#url)}\n`);
  }
}

/** Asks on a terminal before a command that cannot be undone. */
async function confirmed(
  { confirms, arguments: names = {} }: Command,
  { yes, ...values }: Values & Record<string, unknown>,
  { calls }: Context,
): Promise<void> {
  if (confirms === undefined || yes || !canAsk()) return;
  const ids = Object.keys(names).flatMap(name => values[name]);
  await confirm(calls.signal, `${confirms} ${ids.join(', ')}`);
}

/** The command, or its overview if it has one and its argument is missing. */
function shownCommand(command: Command, values: object): Command {
  const given: Record<string, unknown> = { ...values };
  const { overview, arguments: names = {} } = command;
  if (overview === undefined || Object.keys(names).some(name => given[name] !== undefined)) return command;
  return { ...command, ...overview, output: 'items' };
}

function settingsOf(
  { fields, profile, ...values }: Values,
  { environment, configDirectory }: Surroundings,
): Settings {
  return {
    url: values.url,
    apiKeyFile: values.apiKeyFile,
    input: undefined,
    profile,
    isJson: values.json === true,
    fields: fields?.split(',').map(name => name.trim()),
    isQuiet: values.quiet === true,
    maxWait: values.maxWait,
    format: values.format,
    isRaw: values.raw === true,
    isCsv: values.csv === true,
    environment,
    configDirectory,
  };
}

/**
 * Moves negative numbers to the end, after `--`: they are the last arguments of the commands that take them, and would be
 * options otherwise. Those that are values of options stay.
 */
function negativesLast(words: readonly string[]): string[] {
  const options = optionsOf(commandOf(words));
  const isNegative = (word: string, i: number) => /^-\d+$/.test(word) && !takesValue(options, words[i - 1]);
  if (words.includes('--') || !words.some(isNegative)) return [...words];
  return [...words.filter((word, i) => !isNegative(word, i)), '--', ...words.filter(isNegative)];
}
