import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { contentReader } from './package-files.ts';

describe('the content of a package', () => {
  it('is shared by all requests until the package is built again, also after a time without it', async t => {
    const directory = mkdtempSync(join(tmpdir(), 'petstore-test-'));
    t.after(() => rmSync(directory, { recursive: true }));
    const path = join(directory, 'client.tgz');
    const read = contentReader(path, 'application/gzip');
    const build = (text: string, builtAt: number) => {
      writeFileSync(path, text);
      utimesSync(path, builtAt, builtAt);
    };
    await assert.rejects(read(), { code: 'route_not_found' });
    build('first', 1_000);
    const first = await read();
    assert.equal(await read(), first);
    assert.equal((await first.encoded('identity')).toString(), 'first');
    build('second', 2_000);
    assert.equal((await (await read()).encoded('identity')).toString(), 'second');
    rmSync(path);
    await assert.rejects(read(), { code: 'route_not_found' });
    // It cannot be read, and is then replaced within the same moment.
    mkdirSync(path);
    utimesSync(path, 3_000, 3_000);
    await assert.rejects(read(), { code: 'EISDIR' });
    rmdirSync(path);
    build('third', 3_000);
    assert.equal((await (await read()).encoded('identity')).toString(), 'third');
  });
});
