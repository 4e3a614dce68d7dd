import { readFileSync } from 'node:fs';
import type { Client } from '@petstore/client';
import { pathOf, type RawOptions, send, stream, urlOf } from '@petstore/client/raw';
import { type Context, command } from '../command.ts';
import { connectRaw } from '../connection.ts';
import { UsageError } from '../failure.ts';
import { required, several, text } from '../parameters.ts';
import { printable } from '../printable.ts';
import { wholeBody } from '../resources.ts';
import { readStandardInput } from '../standard-input.ts';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

const method = {
  help: 'The method, such as GET',
  value: 'method',
  choices: METHODS,
  parse: (text: string) => {
    if (METHODS.includes(text.toUpperCase())) return text.toUpperCase();
    throw new UsageError(`Use one of ${METHODS.join(', ')} instead of ${JSON.stringify(text)}`);
  },
};

const header = {
  help: 'A further header: "If-Match: \\"a1\\""; can be repeated',
  value: 'header',
  parse: (text: string): readonly [string, string] => {
    const [, name, value] = /^([\w-]+):\s*(.*)$/.exec(text) ?? [];
    if (name === undefined || value === undefined)
      throw new UsageError(`Write a header as "Name: value" instead of ${JSON.stringify(text)}`);
    if (/^(x-api-key|authorization)$/i.test(name))
      throw new UsageError('Other users can see options: use a profile, --api-key-file or PETSTORE_API_KEY');
    return [name, value];
  },
};

export const api = command({
  name: 'api',
  summary: 'Send any request, within the limits of the API key',
  details:
    'Prints the body of the response. It waits for limits and sends a request again as all commands do, with an Idempotency-Key for a POST.',
  arguments: {
    method: required(method),
    path: required(text('The path with its query: /pets?limit=3', 'path')),
  },
  options: {
    body: text('The body as JSON; @FILE reads it from a file, and @- from standard input', 'json'),
    header: several(header),
  },
  examples: [
    "petstore api GET '/pets?limit=3'",
    'petstore api POST /pets --body \'{"name": "Bandit", "categoryId": 1}\'',
    'petstore api GET /account --json',
  ],
  output: 'text',
  prints: wholeBody,
  input: ({ body }) => (body === '@-' ? 'the body' : undefined),
  async *run({ calls, connection, note, settings, stdout }, { method, path, body, header }) {
    const client = connectRaw(connection, settings, { note });
    const options = { ...calls, headers: Object.fromEntries(header), ...acceptsOf(client, path) };
    if (method === 'GET' && options.accepts === 'event-stream') {
      for await (const { data } of stream(client, path, options))
        if (data !== undefined) yield* output(data, settings, stdout);
      return;
    }
    const request = { method, path, body: await bodyOf(body, calls.signal!) };
    const { text, headers, nextCursor } = await send(client, request, options);
    const isJson = headers.get('Content-Type')?.includes('json') === true;
    yield* isJson ? output(text, settings, stdout) : [{ script: withLineBreak(text) }];
    if (nextCursor !== undefined) note(`To continue, add cursor=${nextCursor} to the query`);
  },
});

/** What the `Content-Type` of a response contains, by the end of its path, where it is not JSON. */
const types = [
  ['/events/stream', 'event-stream'],
  ['.yaml', 'yaml'],
  ['.txt', 'text/plain'],
  ['.md', 'text/markdown'],
] as const;

function acceptsOf(client: Client, path: string): Pick<RawOptions, 'accepts'> {
  const place = pathOf(client, targetOf(client, path));
  const [, accepts] = types.find(([end]) => place.endsWith(end)) ?? [];
  return accepts === undefined ? {} : { accepts };
}

function targetOf(client: Client, path: string): URL {
  try {
    return urlOf(client, path);
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

async function bodyOf(text: string | undefined, signal: AbortSignal): Promise<object | undefined> {
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(await textOf(text, signal));
    if (typeof value === 'object' && value !== null) return value;
  } catch (error) {
    throw new UsageError(`--body: ${(error as Error).message}`);
  }
  throw new UsageError('--body: write a JSON object');
}

async function textOf(body: string, signal: AbortSignal): Promise<string> {
  if (body === '@-') return readStandardInput(signal);
  return body.startsWith('@') ? readFileSync(body.slice(1), 'utf8') : body;
}

/** The body as it is, in several lines on a terminal; with `--json` one line for each item. */
function* output(
  text: string,
  { isJson }: Pick<Context['settings'], 'isJson'>,
  { isTTY }: Pick<NodeJS.WriteStream, 'isTTY'>,
): Generator<object> {
  if (text === '') return;
  if (isJson) yield* [JSON.parse(text)].flat();
  else if (isTTY) {
    const lines = JSON.stringify(JSON.parse(text), null, 2).split('\n');
    yield { script: lines.map(line => `${printable(line)}\n`).join('') };
  } else yield { script: withLineBreak(text) };
}

const withLineBreak = (text: string) => (text === '' || text.endsWith('\n') ? text : `${text}\n`);
