import { ConfigError } from './config-error.ts';
import { readSecretFile } from './secret-file.ts';
import { asError } from './thrown.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** How the text of a setting becomes a value. */
export interface Kind<Value> {
  /** The valid texts, for the documentation. */
  readonly values: string;
  /** Throws ConfigError, whose message calls the setting `name`. */
  readonly parse: (text: string, name: string) => Value;
}

/** An environment variable, as it is documented. */
interface Variable {
  readonly name: string;
  /** Empty if it has none. */
  readonly default: string;
  readonly values: string;
  readonly meaning: string;
}

export interface Setting<Value = unknown> {
  readonly variables: readonly Variable[];
  /** Throws ConfigError for an invalid value. */
  readonly read: (environment: Environment) => Value;
}

/** Settings and groups of settings, by the names by which the program reads them. */
export interface SettingTable {
  readonly [key: string]: Setting | SettingTable;
}

export type ValuesOf<Table> = {
  readonly [Key in keyof Table]: Table[Key] extends Setting<infer Value> ? Value : ValuesOf<Table[Key]>;
};

/** The default of a setting that has none: its kind gets an empty text. */
export const NONE = '';

/** A setting, with its default as the environment would have it. */
export function setting<Value>(
  name: string,
  kind: Kind<Value>,
  fallback: string | number,
  meaning: string,
): Setting<Value> {
  const ifUnset = String(fallback);
  return {
    variables: [{ name, default: ifUnset, values: kind.values, meaning }],
    read: ({ [name]: text }) => {
      if (text === undefined) return kind.parse(ifUnset, name);
      if (text.trim() !== '') return kind.parse(text, name);
      throw new ConfigError(`${name} is empty; unset it for the default, ${ifUnset || 'none'}`);
    },
  };
}

/**
 * A setting that may contain a password: its value is in the variable `name`, or in a file that the variable `name_FILE` names.
 * An empty value counts as none. Messages of its kind must not show the value.
 */
export function secret<Value>(name: string, kind: Kind<Value>, meaning: string): Setting<Value> {
  const file = `${name}_FILE`;
  const inFile = `File that contains the value of \`${name}\`, for a password that must not be in the environment`;
  return {
    variables: [
      { name, default: NONE, values: kind.values, meaning },
      { name: file, default: NONE, values: 'a file', meaning: inFile },
    ],
    read: ({ [name]: text = NONE, [file]: path }) => {
      if (path === undefined) return kind.parse(text, name);
      if (path === '') throw new ConfigError(`${file} is empty: set it to the name of a file, or unset it`);
      if (text !== '') throw new ConfigError(`${name} and ${file} are both set: unset one of them`);
      return kind.parse(contentOf(path, name, file), `${name} in ${path}`);
    },
  };
}

function contentOf(path: string, name: string, file: string): string {
  try {
    return readSecretFile(path);
  } catch (error) {
    throw new ConfigError(
      `${file} names ${path}, which cannot be used: ${asError(error).message}. It must be a file that this user ` +
        `can read, with the value of ${name} in it`,
    );
  }
}

/** Reads every setting of a table into a frozen object. Throws ConfigError for the first invalid value. */
export function readSettings<Table extends SettingTable>(
  table: Table,
  environment: Environment,
): ValuesOf<Table> {
  const values = Object.entries(table).map(([key, entry]) => [
    key,
    isSetting(entry) ? entry.read(environment) : readSettings(entry, environment),
  ]);
  return Object.freeze(Object.fromEntries(values));
}

/** The variables of a table, in its order. */
export function variablesOf(table: SettingTable): Variable[] {
  return Object.values(table).flatMap(entry => (isSetting(entry) ? entry.variables : variablesOf(entry)));
}

function isSetting(entry: Setting | SettingTable): entry is Setting {
  return typeof entry.read === 'function';
}

/** A text that passes `check`. `values` describes such texts in the message: "an address". */
export function text(values: string, check: (text: string) => boolean = () => true): Kind<string> {
  return {
    values,
    parse: (text, name) => {
      if (check(text)) return text;
      throw new ConfigError(`${name} must be ${values}, but is "${text}"`);
    },
  };
}

/** A whole number from `min` to `max`. Its value is in units of `unit`: `SECOND` makes milliseconds of seconds. */
export function wholeNumber(min: number, max: number, unit = 1): Kind<number> {
  const values = `${min} to ${max}`;
  return {
    values,
    parse: (text, name) => {
      const number = Number(text);
      if (/^(0|[1-9]\d*)$/.test(text) && number >= min && number <= max) return number * unit;
      throw new ConfigError(`${name} must be a whole number from ${values}, but is "${text}"`);
    },
  };
}

export function oneOf<const Choice extends string>(...choices: readonly Choice[]): Kind<Choice> {
  const values = choices.join(', ');
  return {
    values,
    parse: (text, name) => {
      const choice = choices.find(candidate => candidate === text);
      if (choice !== undefined) return choice;
      throw new ConfigError(`${name} must be one of ${values}, but is "${text}"`);
    },
  };
}

const trueOrFalse = oneOf('true', 'false');

export const flag: Kind<boolean> = {
  values: trueOrFalse.values,
  parse: (text, name) => trueOrFalse.parse(text, name) === 'true',
};

/** Values separated by commas; an empty text has none. */
export function listOf<Value>({ values, parse }: Kind<Value>): Kind<readonly Value[]> {
  return {
    values: `${values}; several are separated by commas`,
    parse: (text, name) => {
      const parts = text === '' ? [] : text.split(',');
      const nameOf = (i: number) => (parts.length === 1 ? name : `Value ${i + 1} of ${name}`);
      return Object.freeze(parts.map((part, i) => parse(part.trim(), nameOf(i))));
    },
  };
}

/** The same, but `undefined` for an empty text. */
export function optional<Value>({ values, parse }: Kind<Value>): Kind<Value | undefined> {
  return { values, parse: (text, name) => (text === '' ? undefined : parse(text, name)) };
}
