import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';

const tests = join(import.meta.dirname, '..');
const textOf = (path: string) => readFileSync(join(tests, path), 'utf8');

it('docs/long-runs.md lists each file that has fewer rounds in npm test', () => {
  const table = textOf('../../docs/long-runs.md').split('## The last figures')[0]!;
  const cells = [...table.matchAll(/^\| (`[^|]+`) \|/gm)].map(([, cell]) => cell!);
  const listed = cells.flatMap(cell => [...cell.matchAll(/`([^`]+)`/g)]).map(([, name]) => `${name}.test.ts`);
  // The last two are support files that use the first one.
  const usesLong = /\/(long|axe-check|killed)\.ts'/;
  const files = globSync('**/*.test.ts', { cwd: tests }).filter(file => usesLong.test(textOf(file)));
  assert.ok(files.length > 30);
  assert.deepEqual(globSync(listed, { cwd: tests }).toSorted(), files.toSorted());
});
