import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';

const runInTurn = join(import.meta.dirname, '../support/run-in-turn.ts');

it('a process of the tests that a file leaves open reports all results, fails and ends', t => {
  const directory = mkdtempSync(join(tmpdir(), 'petstore-test-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const write = (name: string, text: string) => {
    const path = join(directory, name);
    writeFileSync(path, text);
    return path;
  };
  const taken = join(directory, 'taken');
  mkdirSync(taken);
  const files = [
    write(
      'open.test.mjs',
      "import { createServer } from 'node:net';\nimport { it } from 'node:test';\nit('opens a server', (_, done) => createServer().listen(0, '127.0.0.1', done));\n",
    ),
    write('next.test.mjs', "import { it } from 'node:test';\nit('is the next one', () => {});\n"),
  ];
  const program = write(
    'program.mjs',
    `const { runInTurn } = await import(${JSON.stringify(runInTurn)});\nawait runInTurn(${JSON.stringify(files)}, ${JSON.stringify(taken)});\n`,
  );
  const { status, stdout } = spawnSync(process.execPath, ['--test', '--test-reporter=tap', program], {
    encoding: 'utf8',
    // Without it, the test runner would skip the program, because this is a test as well.
    env: { PATH: process.env.PATH },
    timeout: 60_000,
  });
  const results = stdout.matchAll(/^ *((?:not )?ok) \d+ - (.*?)( # .*)?$/gm);
  const result = Object.fromEntries(
    Array.from(results, ([, result, name]) => [name!.split('/').at(-1), result]),
  );
  const left = ' leaves no sockets, timers or environment variables behind';
  assert.deepEqual(
    [
      result['opens a server'],
      result[`open.test.mjs${left}`],
      result['is the next one'],
      result[`next.test.mjs${left}`],
    ],
    ['ok', 'not ok', 'ok', 'ok'],
    stdout,
  );
  assert.equal(status, 1);
});
