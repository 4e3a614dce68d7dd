import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { sample } from '../../../web/portal/samples.js';
import type { Call, Values } from '../../../web/portal/types.d.ts';
import { callOf } from '../../src/portal/call.ts';
import { type Contract, ContractView } from '../../src/portal/contract.ts';
import { documentedOperations } from '../contract/document.ts';
import { readContract } from './contract-file.ts';
import { aCategory } from './factories.ts';
import { filledIn } from './operation-values.ts';
import { installClient } from './packed-client.ts';
import { programs } from './sample-languages.ts';
import { startTestApp } from './test-app.ts';

/** The most time that a sample has, in milliseconds. */
const LIMIT = 120_000;

/** A directory with the client of this project, in which samples run. */
export class SampleDirectory implements Disposable {
  readonly #path = mkdtempSync(join(tmpdir(), 'petstore-test-'));

  constructor() {
    symlinkSync(join(installClient().directory, 'node_modules'), join(this.#path, 'node_modules'));
  }

  /** Runs a sample with `key` in its environment. Rejects, with what it printed, if it fails. */
  async run(language: string, code: string, key: string): Promise<string> {
    const [file, ...args] = this.#command(language, code);
    const { stdout } = await promisify(execFile)(file, args, {
      env: environmentWith(key),
      timeout: LIMIT,
    });
    return stdout;
  }

  /** Runs a sample that does not end until it has printed `text`. Rejects, with what it printed, if it ends earlier. */
  async runUntil(text: string, language: string, code: string, key: string): Promise<void> {
    const [file, ...args] = this.#command(language, code);
    // `go run` and `sh` start the program itself, which gets the signal as a member of their group.
    const child = spawn(file, args, {
      env: environmentWith(key),
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const end = () => process.kill(-child.pid!);
    const limit = setTimeout(end, LIMIT);
    const closed = once(child, 'close');
    let output = '';
    let found = false;
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', part => {
        output += part;
        if (found || !output.includes(text)) return;
        found = true;
        end();
      });
    await closed;
    clearTimeout(limit);
    if (!found) throw new Error(`The sample ended without ${text}: ${output}`);
  }

  [Symbol.dispose](): void {
    rmSync(this.#path, { recursive: true });
  }

  #command(language: string, code: string): [string, ...string[]] {
    const { file, command } = programs[language]!;
    const path = join(this.#path, file);
    writeFileSync(path, code);
    return [...command, path];
  }
}

/**
 * Runs the samples of a language in a service of its own: of every operation, or of those with the given IDs. Returns the
 * failures, and the number of samples.
 */
export async function runSamples(
  language: string,
  ids?: readonly string[],
): Promise<{ count: number; failures: string[] }> {
  const view = new ContractView(readContract<Contract>());
  await using resources = new AsyncDisposableStack();
  const { api, app, origin, adminKey } = await startTestApp(
    { after: release => void resources.defer(release) },
    {
      alone: false,
      // The host of every webhook resolves to this machine, on whose port nothing listens.
      environment: { PETSTORE_WEBHOOKS_ALLOW_PRIVATE: 'true' },
      webhooks: { resolve: async () => [{ address: '127.0.0.1', family: 4 }] },
    },
  );
  using directory = new SampleDirectory();
  const failures: string[] = [];
  const operations = documentedOperations.filter(
    ({ operation }) => ids?.includes(operation.operationId) ?? true,
  );
  for (const listed of operations) {
    const operation = view.operation(listed.operation.operationId)!;
    const call: Call = callOf(view, operation);
    const { parameters, body } = await filledIn(api, listed, `${operation.id} in ${language}`);
    const values: Values = {
      parameters: Object.fromEntries(Object.entries(parameters).map(([name, id]) => [name, String(id)])),
      body: body && JSON.stringify(body),
    };
    if (call.returns === 'stream') {
      await aCategory(api);
      values.parameters.cursor = '0';
    }
    await app.db.numberEvents();
    const code = sample(language, call, values, origin);
    try {
      if (call.returns === 'stream') await directory.runUntil('category.created', language, code, adminKey);
      else await directory.run(language, code, adminKey);
    } catch (error) {
      failures.push(`${language} ${operation.id}: ${(error as Error).message}`);
    }
  }
  return { count: operations.length, failures };
}

function environmentWith(key: string): Record<string, string | undefined> {
  const { PATH, HOME } = process.env;
  return { PATH, HOME, KEY: key };
}
