import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import {
  isClassDeclaration,
  isConstructorDeclaration,
  isIdentifier,
  isPrivateIdentifier,
  isPropertyDeclaration,
  isShorthandPropertyAssignment,
  isSourceFile,
  isTypeNode,
  type Node,
  type SourceFile,
  SyntaxKind,
} from 'typescript/unstable/ast';
import {
  API,
  type Checker,
  type Symbol as ProgramSymbol,
  type Project,
  SymbolFlags,
} from 'typescript/unstable/sync';

const root = join(import.meta.dirname, '../../..');
const examples = 'service/test/types/misused/';

export const functionKinds: readonly SyntaxKind[] = [
  SyntaxKind.ArrowFunction,
  SyntaxKind.FunctionExpression,
  SyntaxKind.FunctionDeclaration,
  SyntaxKind.MethodDeclaration,
  SyntaxKind.GetAccessor,
  SyntaxKind.Constructor,
];

/** What a rule found in the program. `file` is relative to the root of the project. */
export interface Finding {
  file: string;
  line: number;
  message: string;
}

/**
 * The service as the compiler sees it, with the examples of `types/misused`, for rules that types cannot express. The rules follow
 * names to the functions that they refer to. They do not follow a function that is called through an interface.
 */
export class Program {
  readonly checker: Checker;
  readonly files: readonly SourceFile[];
  readonly #api: API;
  readonly #project: Project;
  readonly #symbols = new Map<Node, ProgramSymbol>();
  readonly #declarations = new Map<ProgramSymbol, Node | undefined>();

  constructor() {
    this.#api = new API({ cwd: root });
    const configuration = join(root, 'tsconfig.json');
    this.#project = this.#api.updateSnapshot({ openProjects: [configuration] }).getProject(configuration)!;
    const { program, checker } = this.#project;
    this.checker = checker;
    this.files = program
      .getSourceFileNames()
      .filter(name => isPartOfService(relative(root, name)))
      .map(name => program.getSourceFile(name)!);
    const names = this.files.flatMap(file =>
      [...nodesIn(file)].filter(node => isIdentifier(node) || isPrivateIdentifier(node)),
    );
    // One call for all of them: each call is a message to the compiler's process.
    for (const [i, symbol] of checker.getSymbolAtLocation(names).entries())
      if (symbol) this.#symbols.set(names[i]!, symbol);
  }

  close(): void {
    this.#api.close();
  }

  /** The declaration that a name refers to, also in another file; `undefined` if it is not part of the service. */
  declarationOf(name: Node): Node | undefined {
    const { parent } = name;
    // `{ db }` names a property and a variable.
    const symbol = isShorthandPropertyAssignment(parent)
      ? this.checker.getShorthandAssignmentValueSymbol(parent)
      : this.#symbols.get(name);
    if (!symbol) return undefined;
    if (!this.#declarations.has(symbol)) {
      const { checker } = this;
      const { valueDeclaration: place } =
        symbol.flags & SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
      const isOurs = place !== undefined && isPartOfService(relative(root, place.path));
      this.#declarations.set(symbol, isOurs ? place.resolve(this.#project) : undefined);
    }
    return this.#declarations.get(symbol);
  }

  /**
   * All nodes of some functions, and of the functions, classes and variables that they refer to, directly or not.
   * `within` is the function, class or variable of a node.
   */
  *reachedFrom(starts: readonly Node[]): Generator<{ node: Node; within: Node }> {
    const waiting = [...starts];
    const seen = new Set(waiting);
    for (let within = waiting.pop(); within; within = waiting.pop()) {
      for (const node of nodesIn(within, isTypeNode)) {
        yield { node, within };
        const declaration = this.declarationOf(node);
        if (!declaration) continue;
        const bodies = bodiesOf(declaration).filter(body => !seen.has(body));
        waiting.push(...bodies);
        for (const body of bodies) seen.add(body);
      }
    }
  }

  findingAt(node: Node, message: string): Finding {
    const file = node.getSourceFile();
    const line = file.getLineAndCharacterOfPosition(node.getStart()).line + 1;
    return { file: relative(root, file.fileName), line, message };
  }
}

function isPartOfService(path: string): boolean {
  return (path.startsWith('service/src/') && !path.endsWith('.test.ts')) || path.startsWith(examples);
}

/** A node and all nodes in it, in the order of the text, without those that `skips` excludes. */
export function* nodesIn(node: Node, skips: (node: Node) => boolean = () => false): Generator<Node> {
  if (skips(node)) return;
  yield node;
  const inner: Node[] = [];
  node.forEachChild(child => void inner.push(child));
  for (const child of inner) yield* nodesIn(child, skips);
}

/** What can run because of a reference to a declaration. The methods of a class run only because of references to them. */
function bodiesOf(declaration: Node): readonly Node[] {
  // The name of a namespace of exports, which are referred to by themselves.
  if (isSourceFile(declaration)) return [];
  if (!isClassDeclaration(declaration)) return [declaration];
  return declaration.members.filter(
    member => isConstructorDeclaration(member) || isPropertyDeclaration(member),
  );
}

/** What a file of examples expects a rule to find: a line after each comment `Found: `. */
export function expectedIn(example: string): Finding[] {
  const file = `${examples}${example}`;
  const lines = readFileSync(join(root, file), 'utf8').split('\n');
  return lines.flatMap((text, i) => {
    const [, message] = /^ *\/\/ Found: (.*)/.exec(text) ?? [];
    return message ? [{ file, line: i + 2, message }] : [];
  });
}

/** The findings in the service, which has to have none, and in the examples, in the order of their lines. */
export function byPlace(findings: readonly Finding[]): { inService: Finding[]; inExamples: Finding[] } {
  const sorted = findings.toSorted((a, b) => a.line - b.line);
  const isExample = ({ file }: Finding) => file.startsWith(examples);
  return {
    inService: sorted.filter(finding => !isExample(finding)),
    inExamples: sorted.filter(isExample),
  };
}
