import { type ParseArgsConfig, parseArgs } from 'node:util';
import { nearest } from '../kit/text.ts';
import { UsageError } from './failure.ts';

export type Options = NonNullable<ParseArgsConfig['options']>;

export type Arguments<T extends Options> = ReturnType<
  typeof parseArgs<{ options: T; allowPositionals: true; strict: true }>
>;

/** An option as it was given. */
interface Given {
  rawName: string;
  value?: string | undefined;
  /** Whether the value follows a `=`. */
  inlineValue?: boolean | undefined;
}

/**
 * Parses the arguments of a command. A number with a minus sign is a value, so that the command can reject it with its limits. Throws
 * UsageError for options that it does not have, for missing and repeated values, and, without `allowPositionals`, for other arguments.
 */
export function argumentsOf<T extends Options>(
  args: string[],
  options: T,
  { allowPositionals = false } = {},
): Arguments<T> {
  // The messages of the strict mode are for programmers.
  const all = parseArgs({ args, options, strict: false, allowPositionals: true, tokens: true });
  const seen = new Set<string>();
  for (const token of all.tokens) {
    if (token.kind === 'positional' && !allowPositionals) throw listed(`Unexpected argument ${token.value}`);
    if (token.kind !== 'option') continue;
    const option = options[token.name];
    if (!option) throw unknown(token.rawName, options);
    rejectValue(token, option);
    if (seen.has(token.name) && !option.multiple)
      throw new UsageError(`Option ${token.rawName} is repeated: name it once`);
    seen.add(token.name);
  }
  // Their types were checked.
  return all as unknown as Arguments<T>;
}

function rejectValue({ rawName, value, inlineValue }: Given, { type }: Options[string]): void {
  if (type === 'boolean') {
    if (value !== undefined) throw new UsageError(`Option ${rawName} has no value: write only ${rawName}`);
  } else if (value === undefined) {
    throw new UsageError(`Option ${rawName} needs a value: write ${rawName}=VALUE`);
  } else if (!inlineValue && /^-(?!\d)/.test(value)) {
    throw new UsageError(
      `Option ${rawName} needs a value, but ${value} follows: write ${rawName}=${value} if that is the value`,
    );
  }
}

function unknown(name: string, options: Options): UsageError {
  const similar = nearest(
    name,
    Object.keys(options).map(option => `--${option}`),
  );
  return similar === undefined
    ? listed(`There is no option ${name}`)
    : new UsageError(`There is no option ${name}: did you mean ${similar}?`);
}

function listed(problem: string): UsageError {
  return new UsageError(`${problem}: --help lists all arguments`);
}
