import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { lists } from '../../../bench/stores/list-targets.ts';
import { anchorsOf } from '../support/guide.ts';
import { dataDirectory } from '../support/service-process.ts';

const root = join(import.meta.dirname, '../../..');
const read = (file: string) => readFileSync(join(root, file), 'utf8');
const tracked = spawnSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' }).stdout.split('\0');

describe('the documents in Markdown', () => {
  const documents = tracked.filter(file => file.endsWith('.md') && existsSync(join(root, file)));

  it('link to files and headings that exist', () => {
    const wrong = [];
    for (const document of documents) {
      const prose = read(document).replaceAll(/^ *```.*?^ *```$/gms, '');
      for (const [, target = ''] of prose.matchAll(/\]\(([^)\s]+)\)/g)) {
        if (/^https?:/.test(target)) continue;
        const [file = '', anchor] = target.split('#');
        const path = file === '' ? document : join(dirname(document), file);
        const exists = existsSync(join(root, path)) && (!anchor || anchorsOf(read(path)).has(anchor));
        if (!exists) wrong.push(`${document}: ${target}`);
      }
    }
    assert.ok(documents.length > 50);
    assert.deepEqual(wrong, []);
  });
});

describe('CONTRIBUTING.md', () => {
  const document = read('CONTRIBUTING.md');
  const commands = Array.from(document.matchAll(/^```sh\n(.*?)^```$/gms), ([, text]) => text!);

  it('names files and scripts that exist', () => {
    const text = commands.join('');
    const files = text
      .match(/\b(?:service|scripts)\/[\w/-]+(?:\.\w+)*/g)!
      .filter(file => !file.endsWith('.bak'));
    assert.ok(files.length > 10);
    for (const file of files) assert.ok(existsSync(join(root, file)), file);
    const { scripts } = JSON.parse(read('package.json'));
    for (const [, name] of text.matchAll(/^npm (?:run )?([\w:]+)/gm)) assert.ok(name! in scripts, name);
  });

  it('has a bug to plant that a test finds, and takes it out again', t => {
    const directory = dataDirectory(t);
    for (const path of ['package.json', 'service/package.json', 'service/src']) {
      mkdirSync(dirname(join(directory, path)), { recursive: true });
      cpSync(join(root, path), join(directory, path), { recursive: true });
    }
    symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'));
    // With this variable the command would report to the test runner that runs this test.
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const block = commands.find(text => text.startsWith('sed -i.bak'))!;
    const [plant = '', run = '', remove = ''] = block.split('\n');
    const status = (...lines: string[]) =>
      spawnSync('sh', ['-ec', lines.join('\n')], { cwd: directory, env }).status;
    assert.equal(status(run), 0);
    assert.equal(status(plant, run), 1);
    assert.equal(status(remove, run), 0);
  });
});

it('.editorconfig describes the files of the project', () => {
  const configuration = read('.editorconfig');
  const { formatter } = JSON.parse(read('biome.json'));
  for (const line of [
    `indent_style = ${formatter.indentStyle}`,
    `indent_size = ${formatter.indentWidth}`,
    `max_line_length = ${formatter.lineWidth}`,
  ])
    assert.ok(configuration.includes(line), line);
  const wrong = [];
  for (const file of tracked) {
    if (file === '' || !existsSync(join(root, file)) || /\.(png|ico)$/.test(file)) continue;
    const text = read(file);
    const isIndentedByTab =
      /^ *\t/m.test(text) && !/^deploy\/(Caddyfile|haproxy(-postgresql)?\.cfg)$/.test(file);
    // Go in a sample is indented by tabs.
    if (isIndentedByTab && file !== 'web/portal/samples.js') wrong.push(`${file}: tabs`);
    if (text.includes('\r')) wrong.push(`${file}: line ends`);
    if (/[ \t]$/m.test(text)) wrong.push(`${file}: white space at the end of a line`);
    if (text !== '' && !text.endsWith('\n')) wrong.push(`${file}: no line end at the end`);
  }
  assert.deepEqual(wrong, []);
});

it('the workflow of continuous integration runs .ci/run, with rights to read only', () => {
  const { on, permissions, jobs } = parse(read('.github/workflows/ci.yml'));
  assert.deepEqual([Object.keys(on), permissions], [['push', 'pull_request'], { contents: 'read' }]);
  assert.deepEqual(Object.keys(jobs), ['test']);
  const { steps, container } = jobs.test;
  const [checkout] = steps;
  assert.match(checkout.uses, /^actions\/checkout@[0-9a-f]{40}$/, 'a commit, because tags can move');
  assert.deepEqual(checkout.with, { 'persist-credentials': false });
  assert.equal(steps.at(-1).run, '.ci/run');
  assert.ok(statSync(join(root, '.ci/run')).mode & 0o100);
  assert.match(read('.ci/run'), /^npm test$/m);
  assert.match(container.image, /^node:24-bookworm$/, 'the tests install programs of this system');
});

it('the measurements of lists have values for every filter of the contract', () => {
  assert.ok(lists().every(({ queries }) => queries.length > 0));
});
