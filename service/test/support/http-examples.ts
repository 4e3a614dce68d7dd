import assert from 'node:assert/strict';
import { STATUS_CODES } from 'node:http';
import type { ApiResponse } from './client.ts';
import type { Block } from './guide.ts';

/** A response in a document, and its request. */
interface Example {
  method: string;
  path: string;
  /** The request as it is sent, with placeholders filled in. */
  bytes: Uint8Array;
  expected: { status: number; headers: Map<string, string>; body: unknown };
  line: number;
}

/**
 * Pairs requests with the responses below them. A response below another one belongs to the same request, sent again.
 */
export function examplesIn(blocks: readonly Block[], placeholders: Record<string, string>): Example[] {
  const examples: Example[] = [];
  let request: Pick<Example, 'method' | 'path' | 'bytes'> | undefined;
  let hasResponse = true;
  for (const { text, line } of blocks) {
    if (text.startsWith('HTTP/')) {
      assert.ok(request, `line ${line}: a response without a request`);
      examples.push({ ...request, expected: responseIn(text, line), line });
      hasResponse = true;
    } else {
      assert.ok(hasResponse, `line ${line}: a request below one that has no response`);
      request = requestIn(fill(text, placeholders));
      hasResponse = false;
    }
  }
  assert.ok(hasResponse, 'the last request has no response');
  return examples;
}

/** Asserts that a response matches the example. It may have more headers, and any text where the example has `…`. */
export function assertShown({ expected }: Example, { status, headers, body, text }: ApiResponse): void {
  const shownHeaders = Object.fromEntries(
    [...expected.headers].map(([name, shown]) => [name, unlessFits(shown, headers[name])]),
  );
  const sentHeaders = Object.fromEntries([...expected.headers.keys()].map(name => [name, headers[name]]));
  assert.deepEqual(
    { status, headers: sentHeaders, body: body ?? (text || undefined) },
    { status: expected.status, headers: shownHeaders, body: unlessFits(expected.body, body) },
  );
}

/** Returns the example with each `…` replaced by the text in `actual`, where the two match. */
function unlessFits(shown: unknown, actual: unknown): unknown {
  if (typeof shown === 'string') {
    const pattern = shown.split('…').map(RegExp.escape).join('.*');
    return typeof actual === 'string' && new RegExp(`^${pattern}$`, 's').test(actual) ? actual : shown;
  }
  if (typeof shown !== 'object' || shown === null) return shown;
  const other = (typeof actual === 'object' && actual !== null ? actual : {}) as Record<string, unknown>;
  if (Array.isArray(shown)) return shown.map((item, i) => unlessFits(item, other[i]));
  return Object.fromEntries(
    Object.entries(shown).map(([name, value]) => [name, unlessFits(value, other[name])]),
  );
}

/** Builds the request and adds what documents leave out: the host, and the length of the body. */
function requestIn(text: string): Pick<Example, 'method' | 'path' | 'bytes'> {
  const [head = '', body = ''] = partsOf(text);
  const [requestLine = ''] = head.split('\n');
  const [, method, path] = /^([A-Z]+) (\/\S*) HTTP\/1\.1$/.exec(requestLine) ?? [];
  assert.ok(method && path, `${requestLine} is not a request line`);
  const length = body === '' ? '' : `\nContent-Length: ${Buffer.byteLength(body)}`;
  const lines = `${head}\nHost: petstore.example${length}`.replaceAll('\n', '\r\n');
  return { method, path, bytes: Buffer.from(`${lines}\r\n\r\n${body}`) };
}

function responseIn(text: string, line: number): Example['expected'] {
  const [head = '', body = ''] = partsOf(text);
  const [statusLine = '', ...headerLines] = head.split('\n');
  const [, status, reason] = /^HTTP\/1\.1 (\d{3}) (.+)$/.exec(statusLine) ?? [];
  assert.equal(reason, STATUS_CODES[Number(status)], `line ${line}: ${statusLine}`);
  const headers = headerLines.map(headerLine => {
    const [, name, value] = /^([\w-]+): (.+)$/.exec(headerLine) ?? [];
    assert.ok(name && value, `line ${line}: ${headerLine} is not a header`);
    return [name.toLowerCase(), value] as const;
  });
  return {
    status: Number(status),
    headers: new Map(headers),
    body: body === '' ? undefined : JSON.parse(body),
  };
}

function partsOf(text: string): string[] {
  return text.trimEnd().split(/\n\n(.*)/s);
}

function fill(text: string, placeholders: Record<string, string>): string {
  return text.replace(/\{([a-z]+( [a-z]+)*)\}/g, (_, name: string) => {
    assert.ok(Object.hasOwn(placeholders, name), `the placeholder {${name}} has no value`);
    return placeholders[name]!;
  });
}
