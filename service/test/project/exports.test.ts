import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';

const root = join(import.meta.dirname, '../../..');
const PROGRAMS = '{service,cli,pet-files,web,bench,scripts,sdk}/**/*.{ts,tsx,mjs,js}';
/** Nothing uses these programs, which the tests of types read. */
const EXAMPLES = 'service/test/types/misused';
/** What no import of a program shows. */
const OTHERS = [
  // The package has it instead of `own-headers` for browsers.
  'sdk/src/own-headers-of-pages.ts: ownHeaders',
  // A part of the text of a program that is compiled or run.
  'scripts/client-runtimes.ts: dynamic',
  'service/test/types/linter.test.ts: change',
  // The compiler reads it, and nothing calls it.
  'service/test/sdk/batch.test.ts: mistakes',
  // A program that scripts/test.ts writes imports it.
  'service/test/support/run-in-turn.ts: runInTurn',
];

it('no module exports what only it uses', () => {
  const files = globSync(PROGRAMS, { cwd: root, exclude: ['**/node_modules', '**/dist', EXAMPLES] });
  const texts = new Map(files.map(file => [file, readFileSync(join(root, file), 'utf8')]));
  /** Names with the paths that they are imported from. Packages of this project have no path. */
  const used = new Set<string>();
  /** Modules of which a program uses all exports, or names that its text does not show. */
  const open = new Set<string>();
  for (const [file, text] of texts) {
    const pathOf = (from: string) => (from.startsWith('.') ? join(file, '..', from) : '');
    for (const [, names, from] of text.matchAll(
      /^(?:import|export) [^'"{]*(?:\{([^}]*)\} )?from '([^']+)'/gm,
    )) {
      if (names === undefined) open.add(pathOf(from!));
      for (const [, name] of names?.matchAll(/(?:^|,)\s*(?:type )?(\w+)/g) ?? [])
        used.add(`${pathOf(from!)}: ${name}`);
    }
    for (const [, from, name] of text.matchAll(/import\('([^']+)'\)(?:\.(\w+))?/g)) {
      if (name === undefined || name === 'then') open.add(pathOf(from!));
      else used.add(`${pathOf(from!)}: ${name}`);
    }
  }
  const found: string[] = [];
  let exported = 0;
  for (const [file, text] of texts) {
    const names = text.matchAll(/^export (?:async )?(?:const|let|function\*?|class|interface|type) (\w+)/gm);
    for (const [, name] of names) {
      exported++;
      if (!open.has(file) && !used.has(`${file}: ${name}`) && !used.has(`: ${name}`))
        found.push(`${file}: ${name}`);
    }
  }
  assert.ok(exported > 1_500, `only ${exported} exports were found`);
  assert.deepEqual(found.toSorted(), OTHERS.toSorted());
});
