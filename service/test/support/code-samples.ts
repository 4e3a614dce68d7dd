import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import vm from 'node:vm';

/** The request that a code sample makes when it runs. */
export interface SampleRequest {
  method: string;
  url: string;
  headers: Record<string, string>;
  body: unknown;
}

/** Runs a curl command in a shell, in which `curl` is a function that prints its arguments. */
export function runCurl(code: string, key: string): SampleRequest {
  const { status, stdout, stderr } = spawnSync(
    'sh',
    ['-euc', `od() { printf 'an ID'; }; curl() { printf '%s\\0' "$@"; }\n${code}`],
    {
      encoding: 'utf8',
      env: { KEY: key },
    },
  );
  assert.equal(status, 0, `${stderr}${code}`);
  const args = stdout.split('\0').slice(0, -1);
  const request: SampleRequest = { method: 'GET', url: '', headers: {}, body: undefined };
  for (let i = 0; i < args.length; i++) {
    const arg = args[i]!;
    if (arg === '-X') request.method = args[++i]!;
    else if (arg === '-N' || arg === '--fail-with-body') continue;
    else if (arg === '-m') i++;
    else if (arg === '-d') request.body = JSON.parse(args[++i]!);
    else if (arg === '-H') {
      const [name = '', value = ''] = args[++i]!.split(/: (.*)/);
      request.headers[name] = value;
    } else {
      assert.equal(request.url, '', `unexpected argument ${arg}: ${code}`);
      request.url = arg;
    }
  }
  return request;
}

/** Runs a sample for Node.js, in which `fetch` records its arguments and sends nothing. */
export async function runJavaScript(code: string, key: string): Promise<SampleRequest> {
  let request: SampleRequest | undefined;
  const context = {
    process: { env: { KEY: key }, stdout: { write: () => {} } },
    console: { log: () => {} },
    crypto: { randomUUID: () => 'an ID' },
    AbortSignal,
    TextDecoderStream,
    fetch: async (url: string, { method = 'GET', headers = {}, body }: RequestInit = {}) => {
      request = {
        method,
        url,
        headers: { ...(headers as Record<string, string>) },
        body: body && JSON.parse(body as string),
      };
      return {
        ok: true,
        status: 200,
        json: async () => ({}),
        text: async () => '',
        body: ReadableStream.from([]),
      };
    },
  };
  await vm.runInNewContext(`(async () => {${code}\n})()`, context);
  assert.ok(request, `the sample sends no request: ${code}`);
  return request;
}
