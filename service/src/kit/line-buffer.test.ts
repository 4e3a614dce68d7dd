import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LineBuffer } from './line-buffer.ts';

/** A buffer whose sink takes every line, and what it has written. */
function collecting() {
  const written: string[] = [];
  const sink = {
    write: (bytes: Uint8Array) => {
      written.push(Buffer.from(bytes).toString());
      return bytes.length;
    },
  };
  return { written, buffer: new LineBuffer({ sink, report: () => assert.fail('a line was lost') }) };
}

describe('a line buffer whose sink takes every line', () => {
  it('writes lines together, in order, when it is flushed', () => {
    const { written, buffer } = collecting();
    buffer.write('one\n');
    buffer.write('two\n');
    assert.deepEqual(written, []);
    buffer.flush();
    buffer.flush();
    assert.deepEqual(written, ['one\ntwo\n']);
  });

  it('writes each line within a second', t => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { written, buffer } = collecting();
    buffer.write('one\n');
    t.mock.timers.tick(999);
    assert.deepEqual(written, []);
    t.mock.timers.tick(1);
    assert.deepEqual(written, ['one\n']);
    const bytes = Buffer.from('two\n');
    buffer.writeBytes(bytes, bytes.length);
    t.mock.timers.tick(1_000);
    assert.deepEqual(written, ['one\n', 'two\n']);
  });

  it('writes the gathered lines before they exceed 64 KiB, and loses nothing', () => {
    const { written, buffer } = collecting();
    const lines = Array.from({ length: 500 }, (_, i) => `${i} ${'é'.repeat(300)}\n`);
    for (const line of lines) buffer.write(line);
    buffer.flush();
    assert.ok(written.length > 1);
    for (const text of written) assert.ok(Buffer.byteLength(text) <= 64 * 1024);
    assert.equal(written.join(''), lines.join(''));
  });

  it('copies lines of bytes, in order with the others, before they exceed 64 KiB', () => {
    const { written, buffer } = collecting();
    const bytes = Buffer.alloc(400);
    const lines = Array.from({ length: 500 }, (_, i) => `${i} ${'x'.repeat(300)}\n`);
    for (const line of lines) {
      buffer.writeBytes(bytes, bytes.write(line, 'latin1'));
      bytes.fill('?');
      buffer.write('text\n');
    }
    buffer.flush();
    assert.ok(written.length > 1);
    for (const text of written) assert.ok(text.length <= 64 * 1024);
    assert.equal(written.join(''), lines.map(line => `${line}text\n`).join(''));
  });

  it('writes a line that is longer than the buffer separately, in order', () => {
    const { written, buffer } = collecting();
    const long = `${'x'.repeat(100_000)}\n`;
    buffer.write('before\n');
    buffer.write(long);
    buffer.write('after\n');
    buffer.flush();
    assert.deepEqual(written, ['before\n', long, 'after\n']);
  });

  it('loses no line, however many there are in all', () => {
    const { written, buffer } = collecting();
    const line = `${'x'.repeat(1_023)}\n`;
    const lines = 12 * 1_024;
    for (let i = 0; i < lines; i++) buffer.write(line);
    buffer.end();
    assert.deepEqual([buffer.lost, written.join('').length], [0, lines * line.length]);
  });
});
