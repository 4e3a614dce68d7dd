import assert from 'node:assert/strict';
import { it } from 'node:test';
import { LineBuffer } from './line-buffer.ts';

it('a line buffer whose sink takes every line loses none, however many there are in all', () => {
  let written = 0;
  const sink = {
    write: (bytes: Uint8Array) => {
      written += bytes.length;
      return bytes.length;
    },
  };
  const buffer = new LineBuffer({ sink, report: () => assert.fail('a line was lost') });
  const line = `${'x'.repeat(1_023)}\n`;
  const lines = 12 * 1_024;
  for (let i = 0; i < lines; i++) buffer.write(line);
  buffer.end();
  assert.deepEqual([buffer.lost, written], [0, lines * line.length]);
});
