import type { Command } from './command.ts';
import { UsageError } from './failure.ts';
import { duration, flag, integer, oneOf, type Parameters, parseInteger, text } from './parameters.ts';

/** The options of all commands. */
export const shared = {
  json: flag('Print JSON: one line for each item'),
  fields: text('Print only these fields, in this order: id,name', 'names'),
  url: text('The URL of the service; PETSTORE_URL', 'url'),
  apiKeyFile: text('Read the API key from a file, or from standard input with -', 'file'),
  profile: text('Use this profile of `petstore login`; PETSTORE_PROFILE', 'profile'),
  maxWait: duration('The longest wait for a limit, such as 90s or 5m; 60s unless set'),
  quiet: flag('Print no notes to standard error, only errors'),
} satisfies Parameters;

/** The options of some commands, which follow from their output and their operations. */
export const implied = {
  limit: {
    ...integer('The maximum number of items; 20 unless set'),
    parse: (text: string) => {
      const number = parseInteger(text);
      if (number > 0) return number;
      throw new UsageError(`Write a positive number instead of ${JSON.stringify(text)}`);
    },
  },
  all: flag('Print all items'),
  yes: flag('Do not ask on a terminal'),
  format: oneOf('The format of the file; csv unless set', 'csv', 'ndjson'),
  idempotencyKey: text(
    'Executes the command once in 24 hours, no matter how often it runs with this text',
    'text',
  ),
} satisfies Parameters;

/** The options of a command that are not in its definition, but follow from it. */
export function impliedOptions({
  output,
  operations = [],
  hasOwnKeys = false,
  confirms,
}: Command): Parameters {
  const { limit, all, format, idempotencyKey, yes } = implied;
  const isPost =
    output === 'item' && !hasOwnKeys && operations.some(operation => operation.startsWith('POST '));
  return {
    ...(output === 'list' && { limit, all }),
    ...(output === 'stream' && { limit: { ...limit, help: 'Stop after this number of items' } }),
    ...(output === 'file' && { format }),
    ...(isPost && { idempotencyKey }),
    ...(confirms !== undefined && { yes }),
  };
}

/** All options of a command; without a command those of all commands. */
export function optionsOf(command: Command | undefined): Parameters {
  return command ? { ...command.options, ...impliedOptions(command), ...shared } : shared;
}

/** `shipDate` is written `--ship-date`. */
export function optionName(key: string): string {
  return `--${key.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)}`;
}
