import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';

const root = join(import.meta.dirname, '../../..');

/** Returns what the linter reports for a program, with the rules of this project. */
function lint(program: string): string {
  const directory = mkdtempSync(join(tmpdir(), 'petstore-test-'));
  try {
    cpSync(join(root, 'biome.json'), join(directory, 'biome.json'));
    writeFileSync(join(directory, 'program.ts'), program);
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
});
