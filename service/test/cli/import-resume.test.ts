import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, it } from 'node:test';
import { useImportShop } from '../support/import-shop.ts';
import { sized } from '../support/long.ts';
import { Random } from '../support/random.ts';
import { inTime } from '../support/until.ts';
import { valuesOf } from '../support/values.ts';

const HOUR = 3_600_000;
const MINUTE = 60_000;

describe('petstore import, when it ends early', () => {
  const test = useImportShop();
  let known: number;
  let count = 0;
  let file: string;

  beforeEach(async () => {
    test.proxy.reset();
    known = (await test.petNames()).length;
    file = `pets${++count}`;
  });

  const newNames = async () => (await test.petNames()).slice(known);
  const names = (rows: number) => Array.from({ length: rows }, (_, i) => `Pet ${i}`);
  /** Writes a file in which every tenth row is rejected. Returns the names of the others. */
  function writeRows(rows: number): string[] {
    const all = names(rows);
    const lines = all.map((name, i) => (i % 10 === 9 ? `${name},Fish` : `${name},Dogs`));
    test.write(`${file}.csv`, 'name,category', ...lines);
    return all.filter((_, i) => i % 10 !== 9);
  }
  /** Creates a key with so many requests a minute: a batch has at most half as many operations. */
  const keyOf = async (perMinute: number, perDay = 1_000_000) => {
    const quotas = { perMinute, perDay };
    const { key } = await test.shop.clientWith({ plan: 'enterprise', quotas });
    return { PETSTORE_API_KEY: key };
  };
  const command = () => ['import', `@${file}.csv`, '--json'];
  const rejection = (status: number, code: string, retryAfter: number) => ({
    status,
    headers: { 'retry-after': String(retryAfter) },
    body: { code, message: 'Not now', status },
  });
  /** Interrupts the command when the service has executed its first batch, whose response is never sent. */
  async function interrupt(more: string[] = [], environment = {}): Promise<string> {
    const stop = new AbortController();
    test.proxy.after = () => void stop.abort();
    const { code, stderr } = await test.run([...command(), ...more], environment, { signal: stop.signal });
    assert.equal(code, 130, stderr);
    test.proxy.after = () => undefined;
    return stderr;
  }
  const assertRejected = (rows: number) => {
    const lines = test.read(`${file}.rejected.csv`).trimEnd().split('\n').slice(1);
    const expected = names(rows).flatMap((name, i) => (i % 10 === 9 ? [`${i + 2},${name}`] : []));
    assert.deepEqual(
      lines.map(line => line.replace(/^(\d+),.*",(Pet \d+),Fish$/, '$1,$2')),
      expected,
    );
  };

  it('is killed at random moments, and creates each pet once', async t => {
    const kills = sized(1, 3);
    // More rows than the processes send: a process that ends must not have finished the import.
    const valid = writeRows(kills * 1500 + 500);
    const environment = await keyOf(200_000);
    const seed = Date.now() % 1_000_000;
    t.diagnostic(`Seed ${seed}`);
    const random = new Random(seed);
    for (let kill = 0; kill < kills; kill++) {
      const child = test.start(command(), environment);
      // From the start of the process to after its last batch.
      const sent = test.proxy.batches.length;
      test.proxy.before = () => {
        if (random.next() < 0.4) setImmediate(() => child.kill('SIGKILL'));
        return undefined;
      };
      test.proxy.after = number => {
        if (number - sent >= 2 || random.next() < 0.4) child.kill('SIGKILL');
        return undefined;
      };
      await inTime('the end', child.ended);
    }
    test.proxy.reset();
    const { code, stdout, stderr } = await test.run(command(), environment);
    assert.equal(code, 7, stderr);
    const { created, rejected } = JSON.parse(stdout);
    assert.deepEqual([created, rejected], [valid.length, valid.length / 9]);
    assert.deepEqual(await newNames(), valid);
    assertRejected(kills * 1500 + 500);
  });

  it('sends a batch again whose response is lost, with the same key', async () => {
    const valid = writeRows(300);
    const environment = await keyOf(200);
    const child = test.start(command(), environment);
    test.proxy.after = async number => {
      if (number === 2) child.kill('SIGKILL');
      if (number === 2) await child.ended;
      return undefined;
    };
    await inTime('the end', child.ended);
    const lost = test.proxy.batches[1]!;
    // The process may also be killed after it has written rejected rows, and before the journal.
    appendFileSync(join(test.directory, `${file}.rejected.csv`), '121,code,"message",Pet 119,Fish\n121,co');
    assert.ok(test.files().includes(`${file}.csv.journal`));
    test.shop.clock.advance(MINUTE);
    const { code, stderr } = await test.run(command(), environment);
    assert.equal(code, 7, stderr);
    const again = test.proxy.batches[2]!;
    assert.deepEqual([again.idempotencyKey, again.isReplay], [lost.idempotencyKey, true]);
    assert.match(stderr, /Continuing the import of .* after 111 of 300 rows/);
    assert.deepEqual(await newNames(), valid);
    assertRejected(300);
    assert.ok(!test.files().some(name => name.includes('journal')));
  });

  it('continues by itself after a 429', async () => {
    test.write(`${file}.csv`, 'name,category', ...names(5).map(name => `${name},Dogs`));
    let rejections = 0;
    test.proxy.before = () => {
      return rejections++ > 0 ? undefined : rejection(429, 'rate_limit_exceeded', 2);
    };
    const { code, stderr } = await test.run(command());
    assert.equal(code, 0, stderr);
    assert.match(stderr, /^Waiting \d s for the limit of the API key …\n$/);
    assert.deepEqual(await newNames(), names(5));
  });

  it('sends at most half of the requests of a day in a batch, if a day has fewer than a minute', async () => {
    test.write(`${file}.csv`, 'name,category', ...names(30).map(name => `${name},Dogs`));
    const { code, stderr } = await test.run(command(), await keyOf(1000, 40));
    assert.equal(code, 0, stderr);
    assert.deepEqual(valuesOf(test.proxy.batches, 'operations'), [20, 10]);
  });

  it('exits with 6 before a wait that is too long, and continues days later', async () => {
    test.write(`${file}.csv`, 'name,category', ...names(30).map(name => `${name},Dogs`));
    const environment = await keyOf(20);
    const args = [...command(), '--max-wait', '0'];
    const { code, stderr } = await test.run(args, environment);
    assert.equal(code, 6);
    assert.match(stderr, /\d+ of 30 rows are done. To continue, run the same command again/);
    const done = (await newNames()).length;
    assert.ok(done > 0 && done < 30, `${done}`);
    // Nothing is in doubt, however long ago it was.
    changeJournal(state => {
      assert.equal(state.sent, null);
      state.startedAt = new Date(Date.now() - 30 * 24 * HOUR).toISOString();
    });
    test.shop.clock.advance(MINUTE);
    assert.equal((await test.run(args, environment)).code, 0);
    assert.deepEqual(await newNames(), names(30));
  });

  it('does not doubt a batch that the service rejected', async () => {
    writeRows(20);
    test.proxy.before = () => rejection(429, 'rate_limit_exceeded', 3600);
    const { code, stderr } = await test.run(command());
    assert.equal(code, 6);
    assert.match(stderr, /--max-wait \d+s/);
    changeJournal(state => assert.equal(state.sent, null));
    test.proxy.reset();
    // Another key can send it, because it was not executed.
    assert.equal((await test.run(command(), await keyOf(1000))).code, 7);
    assert.equal((await newNames()).length, 18);
  });

  it('ends with 130 on Ctrl-C, and states how to continue', async () => {
    const valid = writeRows(50);
    assert.match(await interrupt(), /0 of 50 rows are done. To continue, run the same command again/);
    assert.equal((await test.run(command())).code, 7);
    assert.deepEqual(await newNames(), valid);
    assert.deepEqual(valuesOf(test.proxy.batches, 'isReplay'), [false, true]);
  });

  it('continues after a crash between the first rejected rows and the journal', async () => {
    writeRows(20);
    await interrupt();
    writeFileSync(join(test.directory, `${file}.rejected.csv`), 'line,code,message,name,category\n11,co');
    assert.equal((await test.run(command())).code, 7);
    assertRejected(20);
  });

  it('doubts a batch that was executed before a 503, also if it ends with that', async () => {
    const valid = writeRows(20);
    test.proxy.after = () => rejection(503, 'service_unavailable', 3600);
    const { code, stderr } = await test.run(command(), {}, { columns: 80 });
    assert.equal(code, 1, stderr);
    // The bar is removed from the line of the terminal before the note is written to it.
    assert.ok(stderr.includes('\u001b[0J0 of 20 rows are done'), stderr);
    test.proxy.after = () => undefined;
    assert.equal((await test.run(command())).code, 7);
    assert.deepEqual(await newNames(), valid);
  });

  it('prints its summary in another run if it was killed before that, and imports no row again', async () => {
    const valid = writeRows(20);
    const onOutput = () => {
      throw new Error('killed');
    };
    await test.run(command(), {}, { onOutput });
    const { code, stdout } = await test.run(command());
    assert.equal(code, 7);
    assert.equal(JSON.parse(stdout).created, valid.length);
    assert.equal(test.proxy.batches.length, 1);
  });

  it('reports a pet that was created without its stock, and does not reject its row', async () => {
    test.write(`${file}.csv`, 'name,category,quantity', 'Rex,Dogs,5', 'Mia,Cats,5');
    // The key loses a scope after the command has checked it.
    test.proxy.replaceResults = results => {
      const error = {
        code: 'insufficient_scope',
        message: 'The scope inventory:write is missing',
        status: 403,
      };
      return results.with(1, { status: 403, error });
    };
    const { code, stdout, stderr } = await test.run(command());
    assert.equal(code, 7);
    const { created, incomplete, rejected } = JSON.parse(stdout);
    assert.deepEqual([created, incomplete, rejected], [2, 1, 0]);
    assert.match(stderr, /Line 2: Pet (\d+) was created without its stock: .*`petstore stock update \1 5`/);
    assert.deepEqual(await newNames(), ['Rex', 'Mia']);
  });

  it('rejects the row of a pet that the service rejects once, also if its stock fails for that reason', async () => {
    test.write(`${file}.csv`, 'name,category,quantity', 'Rex,Dogs,5', 'Mia,Cats,5');
    // Another client deletes the category after the command has looked it up.
    test.proxy.replaceResults = results => {
      const error = { code: 'unknown_category', message: 'No category', status: 422 };
      const failed = { status: 422, error };
      return [failed, failed, ...results.slice(2)];
    };
    const { code, stdout, stderr } = await test.run(command());
    assert.equal(code, 7, stderr);
    const { created, incomplete, rejected } = JSON.parse(stdout);
    assert.deepEqual([created, incomplete, rejected], [1, 0, 1]);
    assert.match(test.read(`${file}.rejected.csv`), /\n2,unknown_category,No category,Rex,Dogs,5\n$/);
  });

  it('continues only with the same file, options and service', async () => {
    writeRows(20);
    await interrupt();
    const before = test.read(`${file}.csv`);
    const rejects = async (message: RegExp, ...more: string[]) => {
      const { code, stderr } = await test.run([...command(), ...more]);
      assert.equal(code, 5, stderr);
      assert.match(stderr, message);
    };
    await rejects(/began with --create-categories false, not true: use the same/, '--create-categories');
    await rejects(/began with --skip-existing false, not true/, '--skip-existing');
    await rejects(/began with --raw false, not true/, '--raw');
    await rejects(/began with --encoding .*utf-8.*, not .*windows-1252/, '--encoding', 'windows-1252');
    await rejects(/began with --map \[\], not .*name=name/, '--map', 'name=name');
    await rejects(/began with the URL /, '--url', test.shop.origin);
    test.write(`${file}.csv`, before, 'New,Dogs');
    await rejects(/has changed since its import began: restore it, or delete .*journal to start again/);
    writeFileSync(join(test.directory, `${file}.csv`), before);
    const journal = test.read(`${file}.csv.journal`);
    writeFileSync(join(test.directory, `${file}.csv.journal`), journal.slice(0, -20));
    await rejects(/journal is damaged.*restore it/);
    writeFileSync(join(test.directory, `${file}.csv.journal`), journal);
    assert.equal((await test.run(command())).code, 7);
    assert.equal((await newNames()).length, 18);
  });

  it('does not run twice at once', async () => {
    writeRows(20);
    let second: Promise<{ code: number | null; stderr: string }> | undefined;
    test.proxy.after = async () => {
      second ??= test.start(command()).ended;
      await second;
      return undefined;
    };
    assert.equal((await test.run(command())).code, 7);
    const { code, stderr } = await second!;
    assert.equal(code, 5);
    assert.match(stderr, /Process \d+ is importing this file: wait until it ends/);
    assert.equal((await newNames()).length, 18);
  });

  describe('when the service may not know the last batch any more', () => {
    const age = () =>
      changeJournal(state => {
        state.sent!.sentAt = new Date(Date.now() - 23.1 * HOUR).toISOString();
      });

    it('sends nothing, and states how to find out whether its pets exist', async () => {
      const valid = writeRows(20);
      await interrupt();
      age();
      const { code, stderr } = await test.run(command());
      assert.equal(code, 5);
      assert.match(stderr, /lines 2 to 21 were sent at .*24 hours.*`--in-doubt skip`.*`--in-doubt send`/s);
      assert.equal(test.proxy.batches.length, 1);
      const skipped = await test.run([...command(), '--in-doubt', 'skip']);
      assert.equal(skipped.code, 7);
      const summary = JSON.parse(skipped.stdout);
      assert.deepEqual([summary.created, summary.skipped, summary.rejected], [0, 18, 2]);
      assert.deepEqual(await newNames(), valid);
      assertRejected(20);
    });

    /** Interrupts the command when it has sent its first batch, which the service does not execute. */
    async function interruptBefore(): Promise<void> {
      const stop = new AbortController();
      test.proxy.before = () => {
        stop.abort();
        return rejection(503, 'service_unavailable', 1);
      };
      await test.run(command(), {}, { signal: stop.signal });
      test.proxy.reset();
    }

    it('sends it as a new batch with --in-doubt send', async () => {
      writeRows(20);
      await interruptBefore();
      age();
      assert.equal((await test.run([...command(), '--in-doubt', 'send'])).code, 7);
      assert.equal((await newNames()).length, 18);
    });

    it('does not send it with another API key, for which it would be a new batch', async () => {
      writeRows(20);
      const other = await keyOf(1000);
      // It has begun the import, and sent nothing that was executed.
      test.proxy.before = () => rejection(429, 'rate_limit_exceeded', 3600);
      assert.equal((await test.run(command(), other)).code, 6);
      test.proxy.before = () => undefined;
      await interrupt();
      const { code, stderr } = await test.run(command(), other);
      assert.equal(code, 5);
      assert.match(stderr, /API key 1 sent them, and this is API key \d+/);
      assert.equal((await test.run(command())).code, 7);
      assert.equal((await newNames()).length, 18);
    });

    it('sends it only with the API key that has sent it last, with --in-doubt send', async () => {
      writeRows(20);
      const other = await keyOf(1000);
      await interruptBefore();
      await interrupt(['--in-doubt', 'send'], other);
      const { code, stderr } = await test.run(command());
      assert.equal(code, 5);
      assert.match(stderr, /API key \d+ sent them, and this is API key 1/);
      assert.equal((await test.run(command(), other)).code, 7);
      assert.equal((await newNames()).length, 18);
    });
  });

  /** Changes the journal as if another process had written it. */
  function changeJournal(
    change: (state: { sent: { sentAt: string } | null; startedAt: string }) => void,
  ): void {
    const [, text = ''] = test.read(`${file}.csv.journal`).split('\n');
    const state = JSON.parse(text);
    change(state);
    const changed = JSON.stringify(state);
    const sum = createHash('sha256').update(changed).digest('hex');
    writeFileSync(join(test.directory, `${file}.csv.journal`), `${sum}\n${changed}\n`);
  }
});
