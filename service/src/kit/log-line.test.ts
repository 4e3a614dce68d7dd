import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LogLine } from './log-line.ts';

function lineOf(build: (line: LogLine) => void): string {
  const line = new LogLine();
  const lines: string[] = [];
  const sink = {
    writeBytes: (bytes: Buffer, length: number) => void lines.push(bytes.toString('utf8', 0, length)),
  };
  // The line before must leave nothing.
  line.text('x'.repeat(100)).end(sink);
  build(line);
  line.end(sink);
  return lines[1]!;
}

describe('a line of the request log', () => {
  it('has integers with all of their digits', () => {
    const powers = Array.from({ length: 16 }, (_, power) => 10 ** power);
    const values = [...powers.flatMap(power => [power - 1, power, power + 1, 7 * power]), 2 ** 31, 2 ** 32];
    for (const value of [...values, 1_795_744_380_291, 1_700_000_000_007, Number.MAX_SAFE_INTEGER])
      assert.equal(
        lineOf(line => line.integer('n:', value)),
        `n:${value}`,
      );
  });

  it('has decimals as JSON has them', () => {
    const values = [0, 0.001, 0.01, 0.1, 0.999, 1, 1.05, 12.34, 123.456, 30_000, 86_400_000.001];
    for (let i = 0; i < 20_000; i++) values.push(i / 1_000);
    for (const value of values)
      assert.equal(
        lineOf(line => line.decimal('d:', value)),
        `d:${JSON.stringify(value)}`,
      );
  });

  it('has null for what is missing, and quotes around texts', () => {
    const line = lineOf(line =>
      line.integer('[', null).decimal(',', null).quoted(',', null).quoted(',', '').text(']'),
    );
    assert.equal(line, '[null,null,null,""]');
  });

  it('may be longer than its memory', () => {
    for (let length = 4090; length < 4100; length++) {
      const text = 'x'.repeat(length);
      assert.equal(
        lineOf(line => line.text(text).quoted('a', 'b').integer(',', 1_234_567).decimal(',', 0.125)),
        `${text}a"b",1234567,0.125`,
      );
    }
    const long = 'x'.repeat(100_000);
    assert.equal(
      lineOf(line => line.quoted('', long)),
      `"${long}"`,
    );
  });

  it('is ASCII', () => {
    assert.equal(
      lineOf(line => line.text('Zo\u00eb \u0080\u2028\uffff')),
      'Zo? ???',
    );
  });
});
