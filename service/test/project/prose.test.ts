import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { proseOf } from '../../../scripts/prose.ts';
import { dataDirectory } from '../support/service-process.ts';

const root = join(import.meta.dirname, '../../..');

const words = (name: string, ...lines: string[]) =>
  proseOf(name, lines.join('\n'))
    .match(/\w+('\w+)?/g)
    ?.join(' ') ?? '';

describe('the prose that the check of words reads', () => {
  it('has the comments and texts of programs, and no names', () => {
    const code = [
      'import { item } from "./item.ts";',
      'export function nameOfPet(item: Kind) { return { take: item.drop(), close() {} }; }',
      'const ATTEMPTS_MADE = /take|"sold/;',
      '/** Takes one. See `item` and event.item. */',
      "const text = 'Take two'; // take three",
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of a program
      'const template = `Take four ${text} take \\`item\\` five ${text} take six`;',
      "const label = 'rejected', column = `sold`, user = 'The user \"shop\"';",
    ];
    const prose = 'Takes one See and Take two take three Take four take five take six The user';
    for (const name of ['a.ts', 'a.mjs', 'a.js']) assert.equal(words(name, ...code), prose);
    assert.equal(proseOf('a.ts', 'const item = 1;\n\n  // take'), '               \n\n  // take');
  });

  it('has the texts of elements, with apostrophes', () => {
    const element = 'export default <p title="Take me" data-item="rejected">Don\'t take {item} he</p>;';
    assert.equal(words('a.tsx', element), "Take me Don't take he");
  });

  it('has Markdown without code, but with the comments of code', () => {
    const text = ['Take `item` one', '```js', 'take(item); // take two', '# take three', '```', 'Take four'];
    assert.equal(words('a.md', ...text), 'Take one take two take three Take four');
  });

  it('has values of several words from YAML and JSON, and the comments of SQL and Lua', () => {
    assert.equal(words('a.yaml', 'item: rejected', 'summary: Take one'), 'Take one');
    assert.equal(words('a.json', '{', '  "item": "Take two",', '  "sold": "rejected"', '}'), 'Take two');
    assert.equal(words('a.sql', 'SELECT rejected -- take three', 'FROM sold;'), 'take three');
  });
});

it('the check of words names each place of a word of the glossary, except in names', t => {
  const directory = dataDirectory(t);
  for (const name of ['scripts/prose.ts', 'scripts/plain-language.ts', 'docs/glossary.md'])
    cpSync(join(root, name), join(directory, name));
  const glossary = readFileSync(join(root, 'docs/glossary.md'), 'utf8');
  const [, word] = /^\| Not \|.*\n.*\n\| (\w+),/m.exec(glossary)!;
  writeFileSync(join(directory, 'a.ts'), `export function ${word}() {}\n// To ${word} a client\n`);
  writeFileSync(join(directory, 'b.md'), `\`${word}\`\n\nTo ${word} a client\n`);
  execFileSync('git', ['init', '--quiet'], { cwd: directory });
  const script = join(directory, 'scripts/plain-language.ts');
  const { status, stderr } = spawnSync(process.execPath, [script, 'a.ts', 'b.md'], { encoding: 'utf8' });
  const places = Array.from(stderr.matchAll(/^(\S+): "/gm), ([, place]) => place);
  assert.deepEqual([status, places], [1, ['a.ts:2', 'b.md:3']]);
});
