import { UsageError } from './failure.ts';

/** An argument or an option: how it is written, and what it means. */
export interface Parameter<T> {
  help: string;
  /** The name of the value in the help; a flag has none. */
  value?: string;
  /** All possible values, for the help and for completion. */
  choices?: readonly string[];
  isRequired?: boolean;
  /** Whether it can be given several times. */
  isList?: boolean;
  /** Converts the value, or throws a `UsageError`. A flag gets ''. */
  parse: (text: string) => T;
}

/** A parameter that may be missing is `undefined` then. */
type ValueOf<P> =
  P extends Parameter<infer T>
    ? P extends { isList: true }
      ? T[]
      : P extends { isRequired: true }
        ? T
        : T | undefined
    : never;

export type Parameters = Record<string, Parameter<unknown>>;
export type ValuesOf<P extends Parameters> = { [Name in keyof P]: ValueOf<P[Name]> };

export const text = (help: string, value = 'text') => ({ help, value, parse: (text: string) => text });

/** A text that '' removes. */
export const removable = (help: string, value = 'text') => ({
  help: `${help}; "" removes it`,
  value,
  parse: (text: string) => (text === '' ? null : text),
});

export const integer = (help: string, value = 'number') => ({ help, value, parse: parseInteger });

export const id = (help: string) => ({
  help,
  value: 'id',
  parse: (text: string) => {
    const number = parseInteger(text);
    if (number < 1)
      throw new UsageError(`An ID is a positive integer, but was given ${JSON.stringify(text)}`);
    return number;
  },
});

/** Where a list or a stream of events starts: the ID of an event, or the other values that `help` names. */
export const position = (help: string, ...others: readonly string[]) => ({
  help,
  value: 'id',
  parse: (text: string) => {
    if (/^(0|[1-9]\d{0,15})$/.test(text) || others.includes(text)) return text;
    const expected = ['an ID of an event such as 120', ...others].join(' or ');
    throw new UsageError(`Write ${expected} instead of ${JSON.stringify(text)}`);
  },
});

export const streamStart = position(
  'The ID of an event: starts after it; 0 for the first event, if the log still has it; latest for the next one',
  'latest',
);

export const removableId = (help: string) => ({
  help: `${help}; "" removes it`,
  value: 'id',
  parse: (text: string) => (text === '' ? null : id('').parse(text)),
});

export const flag = (help: string) => ({ help, parse: () => true as const });

export function oneOf<const Choice extends string>(help: string, ...choices: readonly Choice[]) {
  const parse = (text: string): Choice => {
    const choice = choices.find(choice => choice === text);
    if (choice !== undefined) return choice;
    throw new UsageError(`Use one of ${choices.join(', ')} instead of ${JSON.stringify(text)}`);
  };
  return { help, value: 'value', choices, parse };
}

/** Milliseconds, written as `90`, `90s`, `5m` or `2h`. */
export const duration = (help: string) => ({
  help,
  value: 'duration',
  parse: (text: string) => {
    const [, number, unit = 's'] = /^(\d+(?:\.\d+)?)(s|m|h)?$/.exec(text) ?? [];
    if (number === undefined)
      throw new UsageError(`A duration is written 90s, 5m or 2h, not ${JSON.stringify(text)}`);
    return Number(number) * { s: 1000, m: 60_000, h: 3_600_000 }[unit as 's' | 'm' | 'h'];
  },
});

const UNITS: Record<string, number> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000 };

/** A time as the service reads it. Days begin at midnight here; `2d` is the time two days ago. */
export const time = (help: string) => ({
  help,
  value: 'time',
  parse: (text: string) => {
    const [, number, unit] = /^(\d{1,5})([mhdw])$/.exec(text) ?? [];
    if (number !== undefined) return new Date(Date.now() - Number(number) * UNITS[unit!]!).toISOString();
    const [, year, month, date] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text) ?? [];
    if (year !== undefined) {
      const midnight = new Date(Number(year), Number(month) - 1, Number(date));
      if (midnight.getDate() === Number(date) && midnight.getMonth() === Number(month) - 1)
        return midnight.toISOString();
      throw new UsageError(`The day ${text} does not exist`);
    }
    const daysAgo = ['today', 'yesterday'].indexOf(text);
    const now = new Date();
    if (daysAgo >= 0)
      return new Date(now.getFullYear(), now.getMonth(), now.getDate() - daysAgo).toISOString();
    if (/^\d{4}-\d\d-\d\dT/.test(text)) return text;
    throw new UsageError(
      `A time is written today, yesterday, 30m, 12h, 2d, 1w, 2027-01-31 or 2027-01-31T12:00:00Z, not ${JSON.stringify(text)}`,
    );
  },
});

export const since = time(
  'Only what happened since then: today, yesterday, 30m, 12h, 2d, 1w, 2027-01-31 or 2027-01-31T12:00:00Z',
);
export const until = time('Only what happened before then, written in the same way');

export const required = <P extends Parameter<unknown>>(parameter: P) => ({
  ...parameter,
  isRequired: true as const,
});

/** It can be given several times; its values are a list, which may be empty. */
export const several = <P extends Parameter<unknown>>(parameter: P) => ({
  ...parameter,
  isList: true as const,
});

export function parseInteger(text: string): number {
  const number = Number(text);
  if (!/^[+-]?\d+$/.test(text))
    throw new UsageError(`Write a whole number instead of ${JSON.stringify(text)}`);
  if (Number.isSafeInteger(number)) return number;
  const limit = number < 0 ? `from ${Number.MIN_SAFE_INTEGER}` : `up to ${Number.MAX_SAFE_INTEGER}`;
  throw new UsageError(`Write a number ${limit} instead of ${JSON.stringify(text)}`);
}
