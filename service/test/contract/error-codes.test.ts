import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { type ErrorCode, errorCatalogue } from '../../src/contract/error-catalogue.ts';
import { document, documentedOperations, responsesOf } from './document.ts';

const codes = Object.keys(errorCatalogue) as ErrorCode[];

/** The errors for a path or method that is not an operation: no operation can document them. */
const ofNoOperation: ErrorCode[] = ['route_not_found', 'method_not_allowed', 'method_not_implemented'];

interface DocumentedError {
  where: string;
  code: string;
  status: number;
  example: { code: string; status: number };
}

const documented: DocumentedError[] = documentedOperations.flatMap(({ operation }) =>
  responsesOf(operation).flatMap(([status, { content }]) =>
    Object.entries(content?.['application/json']?.examples ?? {}).map(([code, { value }]) => ({
      where: `${operation.operationId} ${status}`,
      code,
      status: Number(status),
      example: value as DocumentedError['example'],
    })),
  ),
);

describe('the error catalogue', () => {
  it('is in openapi.yaml, complete and with nothing else', () => {
    const expected = Object.fromEntries(
      codes.map(code => [
        code,
        { status: errorCatalogue[code].status, description: errorCatalogue[code].meaning },
      ]),
    );
    assert.deepEqual(document['x-error-codes'], expected);
  });

  it('has each code as an example of an error of an operation', () => {
    const shown = new Set([...documented.map(({ code }) => code), ...ofNoOperation]);
    assert.deepEqual([...shown].toSorted(), codes.toSorted());
    for (const code of ofNoOperation) assert.ok(!documented.some(error => error.code === code), code);
  });

  it('has one status for each code, and every response with that example has this status', () => {
    assert.ok(documented.length > 200);
    for (const { where, code, status, example } of documented) {
      assert.deepEqual([example.code, example.status], [code, status], where);
      assert.equal(status, errorCatalogue[code as ErrorCode].status, `${where}: ${code}`);
    }
  });

  it('explains each code in a sentence', () => {
    for (const code of codes) {
      assert.match(code, /^[a-z]+(_[a-z]+)+$/);
      assert.match(errorCatalogue[code].meaning, /^[A-Z].{10,120}\.$/, code);
    }
  });

  it('has no code that the service never returns', () => {
    const source = join(import.meta.dirname, '../../src');
    const thrown = new Set(
      globSync('**/*.ts', { cwd: source, exclude: ['**/*.test.ts'] }).flatMap(file => {
        const text = readFileSync(join(source, file), 'utf8');
        // Thrown, or returned for an error that node:http reports (http/unreadable.ts).
        return [...text.matchAll(/(?:new ApiError\(|[A-Z]: \[)\s*'(\w+)',/g)].map(([, code]) => code!);
      }),
    );
    assert.deepEqual([...thrown].toSorted(), codes.toSorted());
  });
});
