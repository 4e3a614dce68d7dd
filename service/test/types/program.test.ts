import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  isCallExpression,
  isIdentifier,
  isNewExpression,
  isObjectLiteralExpression,
  isPropertyAssignment,
  isStringLiteral,
  type Node,
  type ObjectLiteralExpression,
} from 'typescript/unstable/ast';
import type { ErrorCode } from '../../src/contract/error-catalogue.ts';
import { describedRoutes } from '../../src/described-routes.ts';
import { documentedOperations, responsesOf } from '../contract/document.ts';
import { byPlace, expectedIn, type Finding, nodesIn, Program } from '../support/program.ts';
import { floatingPromises } from './floating-promises.ts';
import { exampleRoutes } from './misused/errors.ts';
import { OtherStores } from './other-stores.ts';
import { writingQueries } from './writing-queries.ts';

/** Codes that functions of an operation throw, but not when this operation calls them. */
const impossible: Record<string, readonly ErrorCode[]> = {
  // The gate found the key of the caller.
  getAccount: ['api_key_not_found'],
  // A pet with an open order cannot be deleted.
  cancelOrder: ['unknown_pet'],
  // Only the message of the error is used.
  runBatch: ['route_not_found'],
};

/** The codes of each operation: those of the contract, and for the examples those of the definition. */
const declared = new Map<string, ReadonlySet<string>>([
  ...exampleRoutes.map(({ operationId, errors }) => [operationId, new Set<string>(errors)] as const),
  ...documentedOperations.map(({ operation }) => {
    const responses = responsesOf(operation).map(
      ([, { content }]) => content?.['application/json']?.examples,
    );
    return [
      operation.operationId,
      new Set(responses.flatMap(examples => Object.keys(examples ?? {}))),
    ] as const;
  }),
]);

/** A definition of one or more operations, and its functions that can throw errors. */
interface Definition {
  operationIds: readonly string[];
  functions: readonly Node[];
}

function definitionsIn(program: Program): Definition[] {
  return program.files
    .flatMap(file => [...nodesIn(file)])
    .flatMap(node => {
      if (!isCallExpression(node) || !isIdentifier(node.expression)) return [];
      const [definition] = node.arguments;
      const isRoute = node.expression.text === 'defineRoute' && definition !== undefined;
      return isRoute && isObjectLiteralExpression(definition) ? [definitionOf(definition)] : [];
    });
}

function definitionOf(definition: ObjectLiteralExpression): Definition {
  const property = (name: string) =>
    definition.properties.filter(isPropertyAssignment).find(({ name: key }) => key.getText() === name);
  const operationIds = [...nodesIn(property('operationId')!)]
    .filter(isStringLiteral)
    .map(({ text }) => text)
    .filter(text => declared.has(text));
  const functions = ['cost', 'prepare', 'locks', 'handler'].flatMap(name => property(name) ?? []);
  return { operationIds, functions };
}

/** The codes with which a node creates an error: none if it passes on the code of another error, which may be any. */
function codesOf(program: Program, node: Node): string[] {
  if (!isNewExpression(node) || node.expression.getText() !== 'ApiError') return [];
  const type = program.checker.getTypeAtLocation(node.arguments![0]!)!;
  const types = type.isUnionType() ? type.getTypes() : [type];
  const codes = types.map(one => String((one as { value?: unknown }).value));
  return codes.includes('internal_error') && codes.length > 1 ? [] : codes;
}

/** What operations throw without declaring it, and which of the exceptions were needed. */
function checkErrors(definitions: readonly Definition[], program: Program) {
  const needed = new Set<string>();
  const undeclared: Finding[] = [];
  for (const { operationIds, functions } of definitions) {
    for (const { node } of program.reachedFrom(functions)) {
      for (const code of codesOf(program, node)) {
        for (const operationId of operationIds.filter(id => !declared.get(id)!.has(code))) {
          const isException = impossible[operationId]?.includes(code as ErrorCode) ?? false;
          if (isException) needed.add(`${operationId} ${code}`);
          else undeclared.push(program.findingAt(node, `${operationId} throws ${code}`));
        }
      }
    }
  }
  return { undeclared: byPlace(undeclared), needed };
}

const program = new Program();
const definitions = definitionsIn(program);
const checked = checkErrors(definitions, program);
const otherStores = byPlace(new OtherStores(program).findings());
const floating = byPlace(floatingPromises(program));
const writing = byPlace(writingQueries(program));
program.close();

describe('an operation', () => {
  it('is followed from its definition', () => {
    assert.deepEqual(
      definitions.flatMap(({ operationIds }) => operationIds).toSorted(),
      [...describedRoutes, ...exampleRoutes].map(({ operationId }) => operationId).toSorted(),
    );
  });

  it('throws only errors that it declares, and is found when a function that it calls throws another', () => {
    assert.deepEqual(checked.undeclared.inService, []);
    assert.deepEqual(checked.undeclared.inExamples, expectedIn('errors.ts'));
  });

  it('has no exception without need', () => {
    const exceptions = Object.entries(impossible).flatMap(([id, codes]) =>
      codes.map(code => `${id} ${code}`),
    );
    assert.deepEqual([...checked.needed].toSorted(), exceptions.toSorted());
  });
});

it('a transaction is the only store that its function uses, and is not confused with the store that it belongs to', () => {
  assert.deepEqual(otherStores.inService, []);
  assert.deepEqual(otherStores.inExamples, expectedIn('transactions.ts'));
});

it('a store that is only for reading, such as that of a GET, gets no statement that writes', () => {
  assert.deepEqual(writing.inService, []);
  assert.deepEqual(writing.inExamples, expectedIn('reads.ts'));
});

it('no statement is a promise whose failure nothing sees, whichever function has returned it', () => {
  assert.deepEqual(floating.inService, []);
  assert.deepEqual(floating.inExamples, expectedIn('promises.ts'));
});
