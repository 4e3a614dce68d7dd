import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LineBuffer } from './line-buffer.ts';

const LINE = 'a line of 20 letters\n';

/** A sink with room for a number of bytes. It fails with `code` when it is full. */
class SmallSink {
  room: number;
  code = 'ENOSPC';
  written = '';

  constructor(room: number) {
    this.room = room;
  }

  write(bytes: Uint8Array): number {
    if (this.room === 0) throw Object.assign(new Error(`no room: ${this.code}`), { code: this.code });
    const taken = Math.min(this.room, bytes.length);
    this.room -= taken;
    this.written += Buffer.from(bytes.subarray(0, taken)).toString();
    return taken;
  }
}

function buffered(room: number) {
  const sink = new SmallSink(room);
  const report = (lost: number, reason: string) => `lost ${lost}: ${reason}\n`;
  return { sink, buffer: new LineBuffer({ sink, report }) };
}

function write(buffer: LineBuffer, ...lines: string[]): void {
  for (const line of lines) buffer.write(`${line}\n`);
  buffer.flush();
}

describe('a line buffer whose sink fails', () => {
  it('loses lines and counts them, and reports their number before the next line it can write', () => {
    const { sink, buffer } = buffered(0);
    write(buffer, 'one', 'two');
    write(buffer, 'three');
    assert.equal(buffer.lost, 3);
    sink.room = 1_000;
    write(buffer, 'four');
    write(buffer, 'five');
    assert.equal(sink.written, 'lost 3: no room: ENOSPC\nfour\nfive\n');
    assert.equal(buffer.lost, 3);
  });

  it('completes a partly written line before it writes another, even after several attempts', () => {
    const { sink, buffer } = buffered('one\ntw'.length);
    write(buffer, 'one', 'two', 'three');
    write(buffer, 'four');
    sink.room = 1;
    write(buffer, 'five');
    sink.room = 1_000;
    write(buffer, 'six');
    assert.equal(sink.written, 'one\ntwo\nlost 3: no room: ENOSPC\nsix\n');
    assert.equal(buffer.lost, 3);
  });

  it('loses no report: the next one includes a failed report, and a partly written report is completed', () => {
    const { sink, buffer } = buffered(0);
    write(buffer, 'one');
    sink.room = 'lost 1'.length;
    write(buffer, 'two');
    sink.room = 1_000;
    write(buffer, 'three');
    assert.equal(sink.written, 'lost 1: no room: ENOSPC\nlost 1: no room: ENOSPC\nthree\n');
    assert.equal(buffer.lost, 2);
  });

  it('reports losses without waiting for another line', t => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { sink, buffer } = buffered(0);
    write(buffer, 'one');
    t.mock.timers.tick(10_000);
    sink.room = 1_000;
    t.mock.timers.tick(1_000);
    assert.equal(sink.written, 'lost 1: no room: ENOSPC\n');
  });

  it('can lose a line that is longer than the buffer', () => {
    const { sink, buffer } = buffered(0);
    write(buffer, 'x'.repeat(100_000));
    sink.room = 1_000;
    write(buffer, 'next');
    assert.equal(sink.written, 'lost 1: no room: ENOSPC\nnext\n');
  });
});

describe('a line buffer whose reader does not keep up', () => {
  it('buffers up to 4 MiB, loses further lines, and writes the rest in order once there is room', t => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { sink, buffer } = buffered(10);
    sink.code = 'EAGAIN';
    const count = 500_000;
    for (let i = 0; i < count; i++) buffer.write(LINE);
    assert.ok(buffer.lost > 0 && buffer.lost < count);
    sink.room = 1_000;
    t.mock.timers.tick(100);
    assert.equal(sink.written.length, 1_010, 'it retries without a new line');
    sink.room = 100_000_000;
    t.mock.timers.tick(100);
    buffer.flush();
    const kept = sink.written.split('\n').filter(line => `${line}\n` === LINE).length;
    assert.equal(kept + buffer.lost, count);
    // In addition, 64 KiB are being gathered.
    const bytes = kept * LINE.length;
    assert.ok(bytes > 4 * 2 ** 20 - 2 ** 17 && bytes < 4 * 2 ** 20 + 2 ** 17, `${bytes} bytes were buffered`);
    assert.match(sink.written, new RegExp(`lost ${buffer.lost}: The reader of the log does not keep up\n`));
  });

  it('keeps the lines that wait while it gathers others', () => {
    const { sink, buffer } = buffered(0);
    sink.code = 'EAGAIN';
    write(buffer, 'one', 'two');
    write(buffer, 'three');
    sink.room = 1_000;
    write(buffer, 'four');
    assert.equal(sink.written, 'one\ntwo\nthree\nfour\n');
  });

  it('retries soon only while the sink has no room', t => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { sink, buffer } = buffered(0);
    sink.code = 'EAGAIN';
    write(buffer, 'one');
    sink.room = 1_000;
    t.mock.timers.tick(100);
    assert.equal(sink.written, 'one\n');
    buffer.write('two\n');
    t.mock.timers.tick(999);
    assert.equal(sink.written, 'one\n');
    t.mock.timers.tick(1);
    assert.equal(sink.written, 'one\ntwo\n');
  });

  it('waits at the end of the process, but not forever', () => {
    const { sink, buffer } = buffered(0);
    sink.code = 'EAGAIN';
    buffer.write('one\n');
    buffer.end();
    sink.room = 1_000;
    buffer.end();
    assert.equal(sink.written, 'one\n');
  });

  it('retries at the end of the process', t => {
    let now = 0;
    t.mock.method(performance, 'now', () => now++);
    const { sink, buffer } = buffered(0);
    sink.code = 'EAGAIN';
    const write = sink.write.bind(sink);
    let attempts = 0;
    sink.write = bytes => {
      if (++attempts === 3) sink.room = 1_000;
      return write(bytes);
    };
    buffer.write('one\n');
    buffer.end();
    assert.deepEqual([attempts, sink.written], [3, 'one\n']);
  });
});
