import assert from 'node:assert/strict';
import { readFileSync, rmSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import {
  assertExplained,
  dataDirectory,
  type Ended,
  listening,
  run,
  serve,
  start,
} from '../support/service-process.ts';
import { inTime } from '../support/until.ts';

function assertInUse(ended: Ended, pid: number | undefined, url: string): void {
  const details = `process ${pid} of host ${hostname()} \\(${url}, since 20\\d\\d-\\S+Z\\)`;
  const rest = 'stop it, or set PETSTORE_DATA to another directory\n$';
  assertExplained(ended, new RegExp(`^The store in \\S+ is in use by ${details}: ${rest}`), 1);
}

describe('a directory of the embedded store', () => {
  it('is served by exactly one of several processes that start at once', async t => {
    const environment = { PORT: '0', PETSTORE_DATA: dataDirectory(t), PETSTORE_DRAIN_SECONDS: '0' };
    const starts = Array.from({ length: 3 }, () => start(t, ['serve'], environment));
    const winnerListens = Promise.race(starts.map(({ child }) => listening(child)));
    const losers: Ended[] = [];
    await new Promise<void>(resolve => {
      for (const { ended } of starts)
        void ended.then(end => {
          if (losers.push(end) === starts.length - 1) resolve();
        });
    });
    const winners = starts.filter(({ child }) => child.exitCode === null);
    assert.equal(winners.length, 1);
    // The winner writes its name after it has taken the lock.
    const { pid } = winners[0]!.child;
    for (const loser of losers)
      assertExplained(loser, new RegExp(`is in use by (process ${pid} of host|another process:) `), 1);
    // Until it listens, SIGTERM kills it.
    await inTime('the winner to listen', winnerListens);
    assert.equal((await winners[0]!.end('SIGTERM')).code, 0);
  });

  it('is free at once after kill -9, but not when somebody deletes the file that names its owner, and the next owner is named', async t => {
    const directory = dataDirectory(t);
    const environment = { PORT: '0', PETSTORE_DATA: directory };
    const killed = await serve(t, directory);
    assertInUse(await run(t, ['serve'], environment), killed.child.pid, killed.url);
    rmSync(join(directory, 'petstore.holder'));
    const nameless = /is in use by another process: stop it, or set PETSTORE_DATA/;
    assertExplained(await run(t, ['serve'], environment), nameless, 1);
    await killed.end('SIGKILL');
    const next = await serve(t, directory);
    assertInUse(await run(t, ['serve'], environment), next.child.pid, next.url);
    await next.end('SIGTERM');
    assert.throws(() => readFileSync(join(directory, 'petstore.holder')), { code: 'ENOENT' });
  });

  it('can be read and changed by commands while it is served, but not replaced', async t => {
    const directory = dataDirectory(t);
    const service = await serve(t, directory);
    const environment = { PETSTORE_DATA: directory };
    const copy = join(dataDirectory(t), 'backup.db');
    const allowed = [
      ['keys', 'list'],
      ['keys', 'show', '1'],
      ['migrate'],
      ['seed'],
      ['check'],
      ['backup', copy],
    ];
    for (const command of allowed) {
      const { code, stderr } = await run(t, command, environment);
      assert.deepEqual([code, stderr], [0, ''], command.join(' '));
    }
    for (const command of [['restore', copy], ['new-store']])
      assertInUse(await run(t, command, environment), service.child.pid, service.url);
  });
});
