import assert from 'node:assert/strict';
import fs, { readdirSync, readlinkSync, rmSync, truncateSync } from 'node:fs';
import { join, relative } from 'node:path';
import { it } from 'node:test';
import { PackedCommand } from '../support/packed-command.ts';
import { replaceFs } from '../support/replace-fs.ts';
import { dataDirectory } from '../support/service-process.ts';

const petstore = new PackedCommand({ HOME: '/nonexistent' });
const { Journal } =
  await petstore.load<typeof import('../../../cli/src/import/journal.ts')>('import/journal.js');
const { RejectedRows } =
  await petstore.load<typeof import('../../../cli/src/import/rejected-rows.ts')>('import/rejected-rows.js');

const identity = {
  ...{ url: 'http://127.0.0.1', sha256: '', map: [], format: 'csv', encoding: 'utf-8' },
  ...{ createCategories: false, skipExisting: false, raw: false },
};

/** The rejected rows of a file, of which an earlier process has stored so many bytes. */
const rejectedRowsOf = (file: string, bytes = 0) =>
  new RejectedRows({ file, ...identity, header: ['name'], delimiter: ',' } as never, bytes);

const rejection = { row: { line: 2, original: ['Rex'] } as never, code: 'invalid_body', message: 'No' };

it('the journal of an import survives a power failure: its content is on the disk before its name, its name before a batch is sent, and rejected rows before it counts them', t => {
  const directory = dataDirectory(t);
  const calls: string[] = [];
  const { fsyncSync, renameSync } = fs;
  replaceFs(t, 'fsyncSync', (file: number) => {
    calls.push(`flush ${relative(directory, readlinkSync(`/proc/self/fd/${file}`)) || 'the directory'}`);
    fsyncSync(file);
  });
  replaceFs(t, 'renameSync', (from: string, to: string) => {
    calls.push(`rename ${relative(directory, from)} to ${relative(directory, to)}`);
    renameSync(from, to);
  });
  const file = join(directory, 'pets.csv');
  const rejected = rejectedRowsOf(file);
  rejected.add([rejection]);
  Journal.begin(file, identity, 1).save({ done: 1, rejectedBytes: rejected.sync() });
  rejected.close();
  assert.deepEqual(calls, [
    'flush pets.rejected.csv',
    'flush pets.csv.journal.new',
    'rename pets.csv.journal.new to pets.csv.journal',
    'flush the directory',
  ]);
  // It contains rows.
  assert.equal(fs.statSync(`${file}.journal`).mode & 0o777, 0o600);
});

it('an import leaves no file open: a long one would run out of file descriptors', t => {
  const directory = dataDirectory(t);
  const file = join(directory, 'pets.csv');
  const openFiles = () => {
    const all = readdirSync('/proc/self/fd').map(descriptor => {
      try {
        return readlinkSync(`/proc/self/fd/${descriptor}`);
      } catch {
        // The list itself was open while it was read.
        return '';
      }
    });
    return all.filter(path => path.startsWith(directory));
  };
  const first = rejectedRowsOf(file);
  first.add([rejection]);
  const rejectedBytes = first.sync();
  Journal.begin(file, identity, 1).save({ rejectedBytes });
  assert.deepEqual(openFiles(), [first.path]);
  first.close();
  const again = rejectedRowsOf(file, rejectedBytes);
  assert.deepEqual(openFiles(), [again.path]);
  again.close();
  assert.deepEqual(openFiles(), []);
});

it('the journal and the rejected rows of an import are complete if the system writes only a part at once', t => {
  const file = join(dataDirectory(t), 'pets.csv');
  const { writeSync } = fs;
  replaceFs(t, 'writeSync', (to: number, text: string) => writeSync(to, text.slice(0, 20)));
  const rejected = rejectedRowsOf(file);
  rejected.add([rejection]);
  Journal.begin(file, identity, 1).save({ rejectedBytes: rejected.sync() });
  rejected.close();
  const text = fs.readFileSync(rejected.path, 'utf8');
  assert.match(text, /Rex\n$/);
  assert.equal(Journal.open(file, identity)!.state.rejectedBytes, Buffer.byteLength(text));
});

for (const [what, change] of [
  ['was deleted', (path: string) => rmSync(path)],
  ['lacks its end', (path: string) => truncateSync(path, 5)],
] as const) {
  it(`an import does not continue with a file of rejected rows that ${what}`, t => {
    const file = join(dataDirectory(t), 'pets.csv');
    const first = rejectedRowsOf(file);
    first.add([rejection]);
    const bytes = first.sync();
    first.close();
    change(first.path);
    assert.throws(
      () => rejectedRowsOf(file, bytes),
      /pets\.rejected\.csv lacks rows .*: restore it, or delete /,
    );
  });
}
