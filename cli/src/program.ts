import { Argument, Command as Commander, Option } from 'commander';
import { type Colors, colorsOf } from './colors.ts';
import type { Command } from './command.ts';
import { commands, groups } from './commands/index.ts';
import { meanings, UsageError } from './failure.ts';
import type { Parameter, Parameters } from './parameters.ts';
import type { Surroundings } from './settings.ts';
import { impliedOptions, optionName, optionsOf, shared } from './shared-options.ts';
import { version } from './version.ts';

type Values = Record<string, unknown>;

/** Executes a command with the values of its arguments and options. */
type Execute = (command: Command, values: Values) => Promise<void>;

/** What the help depends on, and where it is written. */
interface Terminal extends Pick<Surroundings, 'stdout' | 'stderr'> {
  width: number;
  colors: Colors;
  /** Writes an error. */
  report: (message: string) => void;
  /** Whether errors are JSON. */
  isJson: boolean;
}

/** Makes the parser, with its help, from the definitions of the commands. */
export function createProgram(
  execute: Execute,
  report: (message: string) => void,
  isJson: boolean,
  { environment, stdout, stderr }: Surroundings,
): Commander {
  const width = Number(environment.COLUMNS) || stdout.columns || 80;
  const colors = colorsOf(stdout, environment);
  const terminal = { width, colors, stdout, stderr, report, isJson };
  const program = configure(new Commander('petstore'), terminal)
    .description('Pets, orders, stock, API keys, events and webhooks of a pet store.')
    .version(version, '--version', 'Show the version')
    .addHelpText('after', rootHelp(colors));
  addOptions(program, shared);
  const parents = new Map<string, Commander>();
  for (const definition of commands) {
    for (const name of [definition.name, ...(definition.aliases ?? [])]) {
      const [first = '', second] = name.split(' ');
      let parent = program;
      if (second !== undefined) {
        // `account` is a command, and has another one.
        parent =
          parents.get(first) ??
          program.commands.find(known => known.name() === first) ??
          configure(program.command(first), terminal).description(groups[first]!);
        parents.set(first, parent);
      }
      addCommand(parent, second ?? first, definition, execute, terminal, name !== definition.name);
    }
  }
  return program;
}

/** Prints the help of the command with these names. Throws a `UsageError` if it does not exist. */
export function showHelp(program: Commander, names: readonly string[]): void {
  let command = program;
  for (const name of names) {
    const next = command.commands.find(inner => inner.name() === name);
    if (!next)
      throw new UsageError(
        `There is no command ${JSON.stringify(names.join(' '))}: petstore --help lists all`,
      );
    command = next;
  }
  command.outputHelp();
}

function configure(
  command: Commander,
  { width, colors, stdout, stderr, report, isJson }: Terminal,
): Commander {
  return command
    .exitOverride()
    .helpOption('-h, --help', 'Show the help')
    .helpCommand(false)
    .showSuggestionAfterError()
    .configureOutput({
      writeOut: text => stdout.write(text),
      // The help in place of a command whose name is missing, which is no JSON.
      writeErr: text => isJson || stderr.write(text),
      outputError: message =>
        report(
          message
            .trimEnd()
            .replace(/^error: /, '')
            .replace('\n', ' '),
        ),
    })
    .configureHelp({ helpWidth: width, showGlobalOptions: true, styleTitle: colors.bold });
}

function addCommand(
  parent: Commander,
  name: string,
  definition: Command,
  execute: Execute,
  terminal: Terminal,
  hidden: boolean,
): void {
  const { summary, details, arguments: parameters = {}, options = {}, examples } = definition;
  const command = configure(parent.command(name, { hidden }), terminal)
    .summary(summary)
    .description(details ? `${summary}.\n\n${details}` : `${summary}.`)
    .addHelpText('after', section('Examples:', examples, terminal.colors));
  for (const [key, parameter] of Object.entries(parameters)) command.addArgument(argumentOf(key, parameter));
  addOptions(command, { ...options, ...impliedOptions(definition) });
  command.action(async () => {
    const operands = Object.fromEntries(
      Object.keys(parameters).map((key, i) => [key, command.processedArgs[i]]),
    );
    await execute(definition, {
      ...convert(parameters, operands, argumentName),
      ...convert(optionsOf(definition), command.optsWithGlobals(), optionName),
    });
  });
}

/** Converts what the parser has found. The parser's own conversion cannot return null. */
function convert(
  parameters: Parameters,
  found: Readonly<Record<string, unknown>>,
  nameOf: (key: string, parameter: Parameter<unknown>) => string,
): Values {
  const entries = Object.entries(parameters).map(([key, parameter]) => {
    const texts = [found[key] ?? []].flat().map(String);
    const name = nameOf(key, parameter);
    const values = texts.map(text => parse(name, parameter, text));
    return [key, parameter.isList ? values : values[0]];
  });
  return Object.fromEntries(entries);
}

function parse(name: string, parameter: Parameter<unknown>, text: string): unknown {
  try {
    return parameter.parse(text);
  } catch (error) {
    if (error instanceof UsageError) throw new UsageError(`${name}: ${error.message}`);
    throw error;
  }
}

function addOptions(command: Commander, options: Parameters): void {
  for (const [key, parameter] of Object.entries(options)) command.addOption(optionOf(key, parameter));
}

function argumentOf(key: string, parameter: Parameter<unknown>): Argument {
  const { help, choices, isRequired, isList } = parameter;
  const name = argumentName(key, parameter) + (isList ? '...' : '');
  return new Argument(isRequired ? `<${name}>` : `[${name}]`, withChoices(help, choices));
}

/** An ID is named after its resource, in the singular: `pet`. */
function argumentName(key: string, { value }: Parameter<unknown>): string {
  return value === 'id' ? key.replace(/s$/, '') : key;
}

function optionOf(key: string, { help, value, choices, isRequired, isList }: Parameter<unknown>): Option {
  const name = optionName(key);
  const option = new Option(value ? `${name} <${value}>` : name, withChoices(help, choices));
  if (isRequired) option.makeOptionMandatory();
  return isList ? option.argParser((text, earlier: string[] = []) => [...earlier, text]) : option;
}

const withChoices = (help: string, choices: readonly string[] | undefined) =>
  choices ? `${help} (${choices.join(', ')})` : help;

function rootHelp(colors: Colors): string {
  const environment = [
    'PETSTORE_URL       The service; http://127.0.0.1:8080 unless set',
    'PETSTORE_API_KEY   The API key. There is no option for it: other users can see options',
    'PETSTORE_PROFILE   The profile of `petstore login`',
    'NO_COLOR, COLUMNS  No colours, and the width of tables',
  ];
  return [
    section(
      'Output:',
      [
        'A table on a terminal; otherwise one line for each item, its columns separated by tabs.',
        '--json prints one line of JSON for each item, and one for an error. Data goes to standard output, all else to standard error.',
      ],
      colors,
    ),
    section('Environment:', environment, colors),
    section(
      'Exit codes:',
      meanings.map(([code, meaning]) => `${String(code).padEnd(4)} ${meaning}`),
      colors,
    ),
    section(
      'Examples:',
      [
        'petstore login',
        'petstore help pets list',
        'petstore pets list --status available',
        'petstore orders create 41',
      ],
      colors,
    ),
  ].join('\n');
}

function section(title: string, lines: readonly string[], colors: Colors): string {
  return ['', colors.bold(title), ...lines.map(line => `  ${line}`)].join('\n');
}
