import {
  type Expression,
  isCallExpression,
  isIdentifier,
  isInterfaceDeclaration,
  isObjectLiteralExpression,
  isPropertyAccessExpression,
  isPropertyAssignment,
  isSpreadAssignment,
  type Node,
  SyntaxKind,
} from 'typescript/unstable/ast';
import { type Type, TypeFlags } from 'typescript/unstable/sync';
import { type Finding, functionKinds, nodesIn, type Program } from '../support/program.ts';

/** The name of the store in objects that have one. */
const STORE = 'db';

/**
 * Finds functions that run in a transaction and use another store than the transaction: its changes would not be undone with the
 * transaction, and its reads would not see them. `db/`, which implements transactions, is not checked.
 */
export class OtherStores {
  readonly #program: Program;
  readonly #isStoreType = new Map<number, boolean>();
  readonly #queries: Type;
  readonly #writer: Type;
  readonly #transaction: Type;

  constructor(program: Program) {
    this.#program = program;
    const interfaces = program.files
      .find(({ fileName }) => fileName.endsWith('/service/src/db/database.ts'))!
      .statements.filter(isInterfaceDeclaration);
    const typeOf = (name: string) =>
      program.checker.getTypeAtLocation(interfaces.find(declared => declared.name.text === name)!.name)!;
    this.#queries = typeOf('Queries');
    this.#writer = typeOf('Writer');
    this.#transaction = typeOf('Transaction');
  }

  findings(): Finding[] {
    const transactions = this.#program.files
      .filter(file => !isOfStore(file))
      .flatMap(file => [...nodesIn(file)])
      .flatMap(node => this.#workOf(node) ?? []);
    const found = new Map<Node, Finding>();
    for (const { node, within } of this.#program.reachedFrom(transactions)) {
      if (isOfStore(within) || found.has(node) || !this.#isOtherStore(node, within)) continue;
      found.set(node, this.#program.findingAt(node, `${node.getText()} is not the transaction`));
    }
    return [...found.values()];
  }

  /** The function that runs in a transaction, if the node is a call of the `write` of a store. */
  #workOf(node: Node): Node | undefined {
    if (!isCallExpression(node) || !isPropertyAccessExpression(node.expression)) return undefined;
    const { name, expression } = node.expression;
    if (name.text !== 'write' || !this.#isA(this.#writer, this.#typeOf(expression))) return undefined;
    return node.arguments[0];
  }

  /** Whether a node is a store, or an object with a store, that a function has from outside. A transaction is not such a store. */
  #isOtherStore(node: Node, within: Node): boolean {
    if (!isFunction(within) || !isPath(node) || !this.#isFromOutside(rootOf(node), within)) return false;
    const type = this.#typeOf(node);
    if (this.#isStore(type)) return true;
    // Such as `access` in `access.now`.
    if (isPropertyAccessExpression(node.parent)) return false;
    // A function that declares to take an object without a store cannot use the store of the object.
    const { checker } = this.#program;
    const store = checker.getPropertyOfType(checker.getContextualType(node as Expression) ?? type, STORE);
    return (
      store !== undefined && this.#isStore(checker.getTypeOfSymbol(store)!) && !hasOtherStore(node.parent)
    );
  }

  #isFromOutside(root: Node, within: Node): boolean {
    if (root.kind === SyntaxKind.ThisKeyword) return true;
    const declaration = this.#program.declarationOf(root);
    if (!declaration) return false;
    const isInside = nodesAbove(declaration).includes(within);
    return !isInside;
  }

  #typeOf(node: Node): Type {
    return this.#program.checker.getTypeAtLocation(node)!;
  }

  #isStore(type: Type): boolean {
    const known = this.#isStoreType.get(type.id);
    if (known !== undefined) return known;
    const isStore =
      (this.#isA(this.#queries, type) || this.#isA(this.#writer, type)) &&
      !this.#isA(this.#transaction, type);
    this.#isStoreType.set(type.id, isStore);
    return isStore;
  }

  #isA(wanted: Type, type: Type): boolean {
    const isKnown = (type.flags & (TypeFlags.Any | TypeFlags.Never)) === 0;
    return isKnown && this.#program.checker.isTypeAssignableTo(type, wanted);
  }
}

function isOfStore(node: Node): boolean {
  return node.getSourceFile().fileName.includes('/service/src/db/');
}

/** Whether a declaration is a function, or a name for one. */
function isFunction({ kind, initializer }: Node & { initializer?: Node }): boolean {
  return (
    functionKinds.includes(kind) || (initializer !== undefined && functionKinds.includes(initializer.kind))
  );
}

/** Whether a node is a value such as `db`, `access.db` or `this.#db`, and not a name in a path, a literal or a declaration. */
function isPath(node: Node): boolean {
  const { parent } = node;
  const { name } = parent as { name?: Node };
  if (node.kind === SyntaxKind.ThisKeyword || isPropertyAccessExpression(node)) return true;
  if (!isIdentifier(node)) return false;
  return name !== node || parent.kind === SyntaxKind.ShorthandPropertyAssignment;
}

function rootOf(path: Node): Node {
  return isPropertyAccessExpression(path) ? rootOf(path.expression) : path;
}

function nodesAbove(node: Node): Node[] {
  return node.parent ? [node, ...nodesAbove(node.parent)] : [node];
}

/** Whether an object literal that spreads an object then sets its store. */
function hasOtherStore(node: Node): boolean {
  if (!isSpreadAssignment(node) || !isObjectLiteralExpression(node.parent)) return false;
  const { properties } = node.parent;
  return properties
    .slice(properties.indexOf(node) + 1)
    .some(property => isPropertyAssignment(property) && property.name.getText() === STORE);
}
