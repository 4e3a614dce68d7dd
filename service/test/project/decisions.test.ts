import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { docsDirectory } from '../support/guide.ts';

const directory = join(docsDirectory, 'decisions');
const read = (file: string) => readFileSync(join(directory, file), 'utf8');
const files = readdirSync(directory).filter(file => /^\d{4}-.*\.md$/.test(file));
const [index = '', withoutRecord = ''] = read('README.md').split('## Numbers without a record');

describe('the index of the decisions', () => {
  it('has a line for each file, with its heading, in their order', () => {
    const expected = files.toSorted().map(file => {
      const [, heading] = /^# (.*)\n/.exec(read(file)) ?? [];
      assert.ok(heading?.startsWith(`${file.slice(0, 4)} `), `${file} begins with "# NUMBER Title"`);
      return `- [${heading}](${file}): `;
    });
    const lines = index.split('\n').filter(line => line.startsWith('- '));
    assert.deepEqual(
      lines.map(line => /^- \[.*?\]\(.*?\): /.exec(line)?.[0]),
      expected,
    );
    for (const line of lines) assert.match(line, /\): .{20,}[^.]$/, 'the decision in a few words');
  });

  it('states why a number has no file', () => {
    const used = files.map(file => Number(file.slice(0, 4)));
    const missing = Array.from({ length: Math.max(...used) }, (_, i) => i + 1).filter(n => !used.includes(n));
    const stated = withoutRecord
      .replaceAll(/\[.*?\]\(.*?\)/g, '')
      .match(/\d{4}/g)!
      .map(Number);
    assert.deepEqual(stated, missing);
    assert.equal(new Set(used).size, used.length, 'two files have the same number');
  });
});
