import {
  type CallExpression,
  type Expression,
  isCallExpression,
  isIdentifier,
  isPropertyAccessExpression,
  isVariableDeclaration,
  type Node,
} from 'typescript/unstable/ast';
import { type Finding, nodesIn, type Program } from '../support/program.ts';

/** A statement that writes, also one that is composed. */
const WRITE = /^[`'"]\s*(?:INSERT|UPDATE|DELETE|WITH\b.*\b(?:INSERT INTO|UPDATE|DELETE FROM))\s/is;

/**
 * Finds statements that write with a store that is only for reading: `get` and `all` also return rows that a statement has changed, and
 * the types cannot see what its text does.
 */
export function writingQueries(program: Program): Finding[] {
  const { files, checker, findingAt } = program;
  const textOf = (node: Node): string => {
    const declared = isIdentifier(node) ? program.declarationOf(node) : undefined;
    return (declared && isVariableDeclaration(declared) && declared.initializer?.getText()) || node.getText();
  };
  const writes = files
    .flatMap(file => [...nodesIn(file)])
    .filter(isCallExpression)
    .filter(call => call.arguments.some(argument => WRITE.test(textOf(argument))));
  return writes.flatMap(call => {
    const store = storeOf(call);
    const type = store && checker.getTypeAtLocation(store);
    const isForReading =
      type &&
      ['get', 'all'].some(name => checker.getPropertyOfType(type, name)) &&
      !checker.getPropertyOfType(type, 'run');
    return isForReading ? [findingAt(call, `${store.getText()} is only for reading`)] : [];
  });
}

/** The store of `db.get(…)`, or of a function such as `one(db, …)`. */
function storeOf({ expression, arguments: [first] }: CallExpression): Expression | undefined {
  return isPropertyAccessExpression(expression) ? expression.expression : first;
}
