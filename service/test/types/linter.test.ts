import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';

const root = join(import.meta.dirname, '../../..');

/** Returns what the linter reports for a program, with the rules of this project. */
function lint(program: string, path = 'program.ts'): string {
  const directory = mkdtempSync(join(tmpdir(), 'petstore-test-'));
  try {
    for (const file of ['biome.json', 'scripts/lint'])
      cpSync(join(root, file), join(directory, file), { recursive: true });
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), program);
    const { stdout, stderr } = spawnSync(join(root, 'node_modules/.bin/biome'), ['lint', '--colors=off'], {
      cwd: directory,
      encoding: 'utf8',
    });
    return stdout + stderr;
  } finally {
    rmSync(directory, { recursive: true });
  }
}

const program = (call: string) => `
async function save(): Promise<void> {}

export async function change(): Promise<void> {
  ${call}
}
`;

describe('the linter rejects', () => {
  it('a promise whose failure nothing sees', () => {
    assert.match(lint(program('save();')), /noFloatingPromises/);
    assert.doesNotMatch(lint(program('await save();')), /noFloatingPromises|×/);
  });

  it('an asynchronous callback whose promise nothing awaits', () => {
    assert.match(lint(program('[1].forEach(async () => save());')), /noMisusedPromises/);
    assert.doesNotMatch(
      lint(program('await Promise.all([1].map(async () => save()));')),
      /noMisusedPromises|×/,
    );
  });

  it('a promise as a condition', () => {
    assert.match(lint(program('[1].filter(async () => true);')), /noMisusedPromises/);
  });

  it('a test that intercepts requests without waiting until its page knows', () => {
    const intercepts = (call: string) =>
      lint(`export const hold = (page: any) => ${call};`, 'service/test/page.test.ts');
    assert.match(intercepts("page.route('**/batch', () => {})"), /Call interceptRequests/);
    assert.match(intercepts("page.context().route('**/batch', () => {}, {})"), /Call interceptRequests/);
    assert.doesNotMatch(intercepts("page.unroute('**/batch')"), /interceptRequests|×/);
  });
});
