import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LineBuffer } from './line-buffer.ts';

function collecting() {
  const written: string[] = [];
  return { written, sink: { write: (text: string) => void written.push(text) } };
}

describe('a line buffer', () => {
  it('writes lines together, in order, when it is flushed', () => {
    const { written, sink } = collecting();
    const buffer = new LineBuffer(sink);
    buffer.write('one\n');
    buffer.write('two\n');
    assert.deepEqual(written, []);
    buffer.flush();
    buffer.flush();
    assert.deepEqual(written, ['one\ntwo\n']);
  });

  it('lets no line wait for more than a second', t => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { written, sink } = collecting();
    const buffer = new LineBuffer(sink);
    buffer.write('one\n');
    t.mock.timers.tick(999);
    assert.deepEqual(written, []);
    t.mock.timers.tick(1);
    assert.deepEqual(written, ['one\n']);
    buffer.write('two\n');
    t.mock.timers.tick(1_000);
    assert.deepEqual(written, ['one\n', 'two\n']);
  });

  it('does not let more wait than 64 Ki characters', () => {
    const { written, sink } = collecting();
    const buffer = new LineBuffer(sink);
    const line = `${'x'.repeat(1023)}\n`;
    for (let i = 0; i < 64; i++) buffer.write(line);
    assert.deepEqual(written, [line.repeat(64)]);
  });
});
