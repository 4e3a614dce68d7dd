import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { documentedOperations, operationsOf } from '../contract/document.ts';

function idsOf(operations: typeof documentedOperations): string[] {
  return operations.map(({ operation }) => operation.operationId).toSorted();
}

it('every operation is tried out, except those that the document excludes', () => {
  const tested = readdirSync(import.meta.dirname)
    .filter(file => file.startsWith('operations-'))
    .flatMap(file => [...readFileSync(join(import.meta.dirname, file), 'utf8').matchAll(/'([A-Z][^']*)'/g)])
    .map(([, tag]) => tag!);
  assert.deepEqual(idsOf(operationsOf(tested)), idsOf(documentedOperations));
  const excluded = documentedOperations.filter(({ operation }) => operation['x-hideTryItPanel']);
  assert.deepEqual(
    excluded.map(({ method, path }) => `${method} ${path}`),
    ['GET /store/orders'],
  );
});
