import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { proseOf } from '../../../scripts/prose.ts';
import { dataDirectory } from '../support/service-process.ts';

const root = join(import.meta.dirname, '../../..');

/** The words of a file's prose. */
function words(name: string, ...lines: string[]): string[] {
  const text = proseOf(new Map([[name, lines.join('\n')]])).get(name)!;
  return text.match(/\w+('\w+)?/g) ?? [];
}

describe('the prose that the check of words reads', () => {
  it('has no names of programs', () => {
    const code = [
      'import { item } from "./item.ts";',
      'class Kind { #size = 1; drop = () => this.#size; }',
      'export function nameOfPet(item: Kind) { return { take: item.drop(), close() {} }; }',
      'const ATTEMPTS_MADE = /take|sold/;',
    ];
    const keywords = /^(import|from|class|this|export|function|return|const|1)$/;
    for (const name of ['a.ts', 'a.tsx']) {
      assert.deepEqual(
        words(name, ...code).filter(word => !keywords.test(word)),
        [],
      );
    }
    assert.deepEqual(words('a.mjs', 'item.drop();'), []);
    assert.deepEqual(words('a.js', 'item.drop();'), []);
  });

  it('has the comments and texts of programs', () => {
    const code = [
      '/** Takes one. See `item` and event.item. */',
      "const text = 'Take two'; // take three",
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of a program
      'const template = `Take four ${text} take \\`item\\` five ${text} take six`;',
      "const label = 'rejected', column = `sold`, user = 'The user \"shop\"';",
    ];
    const prose = ['Takes', 'one', 'See', 'and', 'Take', 'two', 'take', 'three'];
    prose.push('Take', 'four', 'take', 'five', 'take', 'six', 'The', 'user');
    assert.deepEqual(
      words('a.ts', ...code).filter(word => word !== 'const'),
      prose,
    );
  });

  it('has the texts of elements, with apostrophes', () => {
    const element = 'export default <p title="Take me" data-item="rejected">Don\'t take {item} he</p>;';
    assert.deepEqual(words('a.tsx', element).slice(2), ['Take', 'me', "Don't", 'take', 'he']);
  });

  it('has Markdown without code, but with the comments of code', () => {
    const text = ['Take `item` one', '```js', 'take(item); // take two', '# take three', '```', 'Take four'];
    assert.deepEqual(words('a.md', ...text), 'Take one take two take three Take four'.split(' '));
  });

  it('has values of several words from YAML and JSON, and the comments of SQL and Lua', () => {
    assert.deepEqual(words('a.yaml', 'item: rejected', 'summary: Take one'), ['Take', 'one']);
    assert.deepEqual(words('a.json', '{', '  "item": "Take two",', '  "sold": "rejected"', '}'), [
      'Take',
      'two',
    ]);
    assert.deepEqual(words('a.sql', 'SELECT rejected -- take three', 'FROM sold;'), ['take', 'three']);
  });

  it('keeps lines and columns', () => {
    const text = 'const item = 1;\n\n  // take';
    assert.equal(proseOf(new Map([['a.ts', text]])).get('a.ts'), 'const      = 1;\n\n  // take');
  });
});

describe('the check of words', () => {
  it('rejects a word of the glossary in a comment, a text and Markdown, and accepts it in names', t => {
    const directory = dataDirectory(t);
    for (const name of ['scripts/prose.ts', 'scripts/plain-language.ts', 'docs/glossary.md'])
      cpSync(join(root, name), join(directory, name));
    symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'));
    const glossary = readFileSync(join(root, 'docs/glossary.md'), 'utf8');
    const [, word] = /^\| Not \|.*\n.*\n\| (\w+),/m.exec(glossary)!;
    mkdirSync(join(directory, 'src'));
    const write = (name: string, text: string) => writeFileSync(join(directory, 'src', name), text);
    write(
      'names.ts',
      `export function ${word}(${word}OfPet: string) {}\nexport const ${word}_ = '${word}';\n`,
    );
    write('names.md', `\`${word}\`\n`);
    execFileSync('git', ['init', '--quiet'], { cwd: directory });
    const check = () => {
      const script = join(directory, 'scripts/plain-language.ts');
      const { status, stderr } = spawnSync(process.execPath, [script, 'src'], { encoding: 'utf8' });
      return { status, places: Array.from(stderr.matchAll(/^src\/(\S+): /gm), ([, place]) => place) };
    };
    assert.deepEqual(check(), { status: 0, places: [] });

    write('comment.ts', `\n// To ${word} a client\n`);
    write('text.ts', `export const text = 'To ${word} a client';\n`);
    write('text.md', `To ${word} a client\n`);
    assert.deepEqual(check(), { status: 1, places: ['comment.ts:2', 'text.ts:1', 'text.md:1'] });
  });
});
