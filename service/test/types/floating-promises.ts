import {
  type Expression,
  isBinaryExpression,
  isCallExpression,
  isExpressionStatement,
  isPropertyAccessExpression,
  SyntaxKind,
} from 'typescript/unstable/ast';
import type { Type } from 'typescript/unstable/sync';
import { type Finding, nodesIn, type Program } from '../support/program.ts';

/** The statements that are a promise, also one of Node.js or of a library. One that is assigned is kept. */
export function floatingPromises({ files, checker, findingAt }: Program): Finding[] {
  const isPromise = (type: Type | undefined): boolean =>
    type?.isUnionType()
      ? type.getTypes().some(isPromise)
      : // A reply of Fastify has `then` only, and does not reject.
        type !== undefined && checker.getPropertyOfType(type, 'catch') !== undefined;
  const left = files
    .flatMap(file => [...nodesIn(file)])
    .filter(isExpressionStatement)
    .map(({ expression }) => expression)
    .filter(expression => !isAssignment(expression) && !isHandled(expression));
  // One call for all of them: each call is a message to the compiler's process.
  const types = checker.getTypeAtLocation(left);
  return left
    .filter((_, i) => isPromise(types[i]))
    .map(expression => findingAt(expression, 'nothing sees when this promise rejects'));
}

function isAssignment(expression: Expression): boolean {
  if (!isBinaryExpression(expression)) return false;
  const { kind } = expression.operatorToken;
  return kind >= SyntaxKind.FirstAssignment && kind <= SyntaxKind.LastAssignment;
}

function isHandled(expression: Expression): boolean {
  // `condition && promise`
  if (isBinaryExpression(expression)) return isHandled(expression.right);
  if (!isCallExpression(expression) || !isPropertyAccessExpression(expression.expression)) return false;
  const { name, expression: promise } = expression.expression;
  const { length } = expression.arguments;
  if (name.text === 'finally') return isHandled(promise);
  return (name.text === 'catch' && length > 0) || (name.text === 'then' && length > 1);
}
