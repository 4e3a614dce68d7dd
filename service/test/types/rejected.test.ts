import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { assertNone } from '../support/values.ts';

const root = join(import.meta.dirname, '../../..');
const directory = 'service/test/types/rejected';

interface Place {
  file: string;
  line: number;
  message: string;
}

/** The errors that the compiler reports for the examples. */
function reports(): Place[] {
  const { stdout, status } = spawnSync(
    join(root, 'node_modules/.bin/tsc'),
    ['--noEmit', '--pretty', 'false', '--project', 'service/test/types'],
    { cwd: root, encoding: 'utf8' },
  );
  assert.notEqual(status, 0, 'the examples compile');
  return [...stdout.matchAll(/^(\S+)\((\d+),\d+\): (error .*(?:\n .*)*)/gm)].map(
    ([, file, line, message]) => ({
      file: file!,
      line: Number(line),
      message: message!,
    }),
  );
}

/** The statements after a comment `Rejected: `, with the part of the message that follows it. */
function expected(file: string): Place[] {
  const lines = readFileSync(join(root, file), 'utf8').split('\n');
  return lines.flatMap((text, i) => {
    const [, message] = /^\/\/ Rejected: (.*)/.exec(text) ?? [];
    return message ? [{ file, line: i + 2, message }] : [];
  });
}

/** The statement that an error belongs to: the last one that starts at or before its line. */
function statementOf({ file, line }: Place, statements: readonly Place[]): Place | undefined {
  return statements.filter(statement => statement.file === file && statement.line <= line).at(-1);
}

describe('the compiler', () => {
  const found = reports();
  const statements = globSync(`${directory}/*.ts`, { cwd: root }).flatMap(expected);

  it('rejects nothing else in these examples', () => {
    assert.ok(statements.length > 0);
    assertNone(found, report => !statementOf(report, statements));
  });

  for (const statement of statements) {
    const example = readFileSync(join(root, statement.file), 'utf8').split('\n')[statement.line - 1];
    it(`rejects ${example}`, () => {
      const messages = found
        .filter(report => statementOf(report, statements) === statement)
        .map(report => report.message);
      assert.ok(
        messages.some(message => message.includes(statement.message)),
        messages.join('\n') || 'it compiles',
      );
    });
  }
});
