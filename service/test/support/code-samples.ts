import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import vm from 'node:vm';

/** What a piece of sample code asks for when it is run. */
export interface Asked {
  method: string;
  url: string;
  headers: Record<string, string>;
  body: unknown;
}

/** Runs a call of curl in a shell, with a `curl` that only tells what it was called with. */
export function runCurl(code: string, key: string): Asked {
  const { status, stdout, stderr } = spawnSync('sh', ['-euc', `curl() { printf '%s\\0' "$@"; }\n${code}`], {
    encoding: 'utf8',
    env: { KEY: key },
  });
  assert.equal(status, 0, `${stderr}${code}`);
  const args = stdout.split('\0').slice(0, -1);
  const asked: Asked = { method: 'GET', url: '', headers: {}, body: undefined };
  for (let i = 0; i < args.length; i++) {
    const arg = args[i]!;
    if (arg === '-X') asked.method = args[++i]!;
    else if (arg === '-d') asked.body = JSON.parse(args[++i]!);
    else if (arg === '-H') {
      const [name = '', value = ''] = args[++i]!.split(/: (.*)/);
      asked.headers[name] = value;
    } else {
      assert.equal(asked.url, '', `what is ${arg}? ${code}`);
      asked.url = arg;
    }
  }
  return asked;
}

/** Runs JavaScript for Node.js, with a `fetch` that only tells what it was called with. */
export async function runJavaScript(code: string, key: string): Promise<Asked> {
  let asked: Asked | undefined;
  const context = {
    process: { env: { KEY: key } },
    console: { log: () => {} },
    fetch: async (url: string, { method = 'GET', headers = {}, body }: RequestInit = {}) => {
      asked = {
        method,
        url,
        headers: { ...(headers as Record<string, string>) },
        body: body && JSON.parse(body as string),
      };
      return { status: 200, json: async () => ({}), text: async () => '' };
    },
  };
  await vm.runInNewContext(`(async () => {${code}\n})()`, context);
  assert.ok(asked, `nothing was fetched: ${code}`);
  return asked;
}
