import type { List, Operations, PetStore, PostOptions } from '@petstore/client';
import type { Connection, ConnectOptions } from './connection.ts';
import type { Parameters, ValuesOf } from './parameters.ts';
import type { Resource } from './resources.ts';
import type { Settings } from './settings.ts';

/** What a command can use while it runs. */
export interface Context {
  /** The client. Throws a `LoginError` if no API key is known. */
  readonly store: PetStore;
  /** The service and the key of `store`. */
  readonly connection: Connection;
  /** Makes another client, with a `fetch` and a `note` of the command. */
  connect: (options: ConnectOptions) => PetStore;
  /** Options of each call: the signal of Ctrl-C, and for a POST the `Idempotency-Key`. */
  readonly calls: PostOptions;
  /** The maximum number of items that a list prints. */
  readonly limit: number;
  readonly settings: Settings;
  /** The streams of the process: whether they are terminals. */
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
  /** Writes a line for people to standard error, unless `--quiet` is set. */
  note: (message: string) => void;
  /** Writes the error of one of several items to standard error. */
  fail: (error: unknown) => void;
}

/** What a command prints: one item, or items as they arrive. A list of the client is read page by page, up to `--limit`. */
export type Items = AsyncIterable<object> | Promise<object> | List<object>;

/** The definition of a command. The help, the completion, the output and the tests are made from it. */
export interface Command<Arguments extends Parameters = Parameters, Options extends Parameters = Parameters> {
  /** `pets list`: a group and a name, or only a name. */
  name: string;
  summary: string;
  /** Other names, which work and are not in the help. */
  aliases?: readonly string[];
  /** What to confirm on a terminal, before the IDs: a question without `--yes`. */
  confirms?: string;
  /** Paragraphs of the help after the summary. */
  details?: string;
  arguments?: Arguments;
  options?: Options;
  /** Complete command lines. */
  examples: readonly string[];
  /** The operations of the contract that it calls. */
  operations?: readonly (keyof Operations)[];
  /** The fields of its items, and the columns of its table. */
  prints: Resource;
  /**
   * `item`: one item. `items`: one for each argument. `list`: as many as `--limit` allows. `stream`: each as it arrives.
   * `text`: a script. `file`: all items, in the format of `--format`.
   */
  output: 'item' | 'items' | 'list' | 'stream' | 'text' | 'file';
  /** Whether it makes the `Idempotency-Key` of its requests itself. */
  hasOwnKeys?: boolean;
  /** Returns what standard input has, if it cannot have the API key. */
  input?: (values: ValuesOf<Arguments> & ValuesOf<Options>) => string | undefined;
  /** Whether it works without an API key. */
  needsNoKey?: boolean;
  run: (context: Context, values: ValuesOf<Arguments> & ValuesOf<Options>) => Items;
  /** What it prints instead if its optional argument is missing: a table of all. */
  overview?: {
    operations: readonly (keyof Operations)[];
    prints: Resource;
    run: (context: Context) => Items;
  };
}

/** Defines a command; the types of `run` follow from the parameters. */
export function command<const A extends Parameters, const O extends Parameters>(
  definition: Command<A, O>,
): Command {
  // The parser gives `run` exactly the values that the parameters describe.
  return definition as unknown as Command;
}
