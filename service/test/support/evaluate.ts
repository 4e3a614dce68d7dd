import { registerHooks, stripTypeScriptTypes } from 'node:module';
import { pathToFileURL } from 'node:url';
import {
  type CallExpression,
  isBindingElement,
  isCallExpression,
  isIdentifier,
  isParameterDeclaration,
  isPropertyAccessExpression,
  isTypeNode,
  isVariableDeclaration,
  type Node,
  type ParameterDeclaration,
  SyntaxKind,
  type VariableDeclaration,
} from 'typescript/unstable/ast';
import { type Type, TypeFlags } from 'typescript/unstable/sync';
import type { Engine } from '../../src/db/database.ts';
import { functionKinds, nodesIn, type Program } from './program.ts';

/** A text that the program does not determine. A statement that contains it cannot be prepared. */
export const UNKNOWN = 'unknown_text';

/** How many values of a parameter or an expression are tried at most. */
const MOST = 24;

const EVALUATED = '?evaluated';

// Modules with this query evaluate expressions among their own names. They are separate instances of the modules.
registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    if (!url.endsWith(EVALUATED)) return loaded;
    return {
      ...loaded,
      source: `${loaded.source}\nexport function evaluate() { return eval(arguments[0]); }`,
    };
  },
});

type Local = ParameterDeclaration | VariableDeclaration;

/** Values of parameters and variables. */
type Values = ReadonlyMap<Node, unknown>;

type Evaluate = (text: string) => (...values: unknown[]) => unknown;

/**
 * Evaluates expressions of the program without running the functions that contain them. A local constant has the value of its
 * initializer. A parameter has the values of the arguments of the function's calls, or else examples of its type: so the branches on
 * it are evaluated, too.
 */
export class Evaluator {
  readonly #program: Program;
  readonly #store: { engine: Engine };
  readonly #examples = new Map<string, unknown[]>();
  readonly #modules = new Map<string, Promise<Evaluate>>();
  /** The calls of each function. */
  readonly #calls = new Map<Node, CallExpression[]>();
  readonly #running = new Set<Node>();

  /** `store` is the value of parameters that are stores. Its engine can change between two evaluations. */
  constructor(program: Program, store: { engine: Engine }) {
    this.#program = program;
    this.#store = store;
    for (const node of program.files.flatMap(file => [...nodesIn(file)])) {
      if (!isCallExpression(node)) continue;
      const { expression } = node;
      const declared = program.declarationOf(
        isPropertyAccessExpression(expression) ? expression.name : expression,
      );
      if (!declared) continue;
      const callee = (isVariableDeclaration(declared) && declared.initializer) || declared;
      this.#calls.set(callee, [...(this.#calls.get(callee) ?? []), node]);
    }
  }

  /** The values that an expression can have. Throws when it cannot be evaluated. */
  async valuesOf(expression: Node): Promise<unknown[]> {
    const locals = this.#localsOf(expression).sort((one, other) => one.pos - other.pos);
    const inputs = locals.filter(isInput);
    const constants = locals.filter(local => !isInput(local)).map(local => `const ${local.getText()};`);
    const names = inputs.map(({ name }) => name.getText());
    const text = `((${names.join(', ')}) => { ${constants.join(' ')} return (${expression.getText()}); })`;
    const compute = (await this.#moduleOf(expression))(stripTypeScriptTypes(text));
    const sets = await this.#valuesOfInputs(inputs);
    const results = sets.map(values => attempt(() => compute(...inputs.map(input => values.get(input)))));
    const values = results.filter(result => 'value' in result).map(({ value }) => value);
    // A function may exclude some values of its parameters before it comes to the expression.
    if (values.length === 0) throw (results[0] as { error: unknown }).error;
    return values;
  }

  /** The declarations in the functions around an expression that its value depends on. */
  #localsOf(expression: Node): Local[] {
    const found = new Set<Local>();
    const collect = (part: Node) => {
      for (const name of nodesIn(part, isTypeNode)) {
        const declared = isIdentifier(name) ? this.#program.declarationOf(name) : undefined;
        const local = declared && localOf(declared);
        if (
          !local ||
          found.has(local) ||
          isInside(local, part) ||
          !isInside(expression, functionAround(local))
        )
          continue;
        found.add(local);
        if (!isInput(local)) collect(local.initializer!);
      }
    };
    collect(expression);
    return [...found];
  }

  /** Sets of values of parameters. Parameters of one function have their values from the same call. */
  async #valuesOfInputs(inputs: readonly Local[]): Promise<Values[]> {
    let sets: Values[] = [new Map()];
    for (const [owner, own] of Map.groupBy(inputs, ({ parent }) => parent)) {
      const choices = (await this.#fromCalls(owner, own)) ?? this.#fromTypes(own);
      sets = sets.flatMap(set => choices.map(choice => new Map([...set, ...choice]))).slice(0, MOST);
    }
    return sets;
  }

  /** Values of the arguments at every call of a function; `undefined` if they cannot be evaluated, or need not be. */
  async #fromCalls(owner: Node, own: readonly Local[]): Promise<Values[] | undefined> {
    const calls = this.#calls.get(owner) ?? [];
    const { parameters = [] } = owner as { parameters?: readonly Node[] };
    if (calls.length === 0 || this.#running.has(owner) || own.every(one => this.#isPlain(one)))
      return undefined;
    this.#running.add(owner);
    try {
      const sets: Values[] = [];
      for (const call of calls) {
        let choices: Values[] = [new Map()];
        for (const parameter of own) {
          const argument = call.arguments[parameters.indexOf(parameter)];
          const values = argument ? await this.valuesOf(argument) : [undefined];
          choices = choices.flatMap(set => values.map(value => new Map([...set, [parameter, value]])));
        }
        sets.push(...choices);
      }
      return sets.slice(0, MOST);
    } catch {
      // An argument that depends on data. Examples of its type are then enough, unless it is a part of a statement.
      return undefined;
    } finally {
      this.#running.delete(owner);
    }
  }

  #fromTypes(own: readonly Local[]): Values[] {
    return own.reduce<Values[]>(
      (sets, parameter) =>
        sets.flatMap(set =>
          this.#examplesOf(this.#typeOf(parameter)).map(value => new Map([...set, [parameter, value]])),
        ),
      [new Map()],
    );
  }

  /** Whether the type of a parameter determines all that matters: a store, or a number. */
  #isPlain(parameter: Local): boolean {
    return !JSON.stringify(this.#examplesOf(this.#typeOf(parameter))).includes(UNKNOWN);
  }

  #typeOf(node: Node): Type {
    return this.#program.checker.getTypeAtLocation(node)!;
  }

  /** Values of a type: each member of a union, and each optional property present and absent. */
  #examplesOf(type: Type, depth = 0): unknown[] {
    const key = `${type.id} ${depth}`;
    let examples = this.#examples.get(key);
    if (!examples) {
      examples = this.#newExamplesOf(type, depth);
      this.#examples.set(key, examples);
    }
    return examples;
  }

  #newExamplesOf(type: Type, depth: number): unknown[] {
    const { checker } = this.#program;
    const { flags } = type;
    if (flags & (TypeFlags.StringLiteral | TypeFlags.NumberLiteral))
      return [(type as unknown as { value: unknown }).value];
    if (flags & (TypeFlags.Boolean | TypeFlags.BooleanLiteral)) return [true, false];
    if (type.isUnionType())
      return type
        .getTypes()
        .flatMap(one => this.#examplesOf(one, depth))
        .slice(0, MOST);
    if (flags & TypeFlags.String) return [UNKNOWN];
    if (flags & TypeFlags.Number) return [1];
    if (flags & TypeFlags.Null) return [null];
    if (!(flags & (TypeFlags.Object | TypeFlags.Intersection)) || depth > 4) return [undefined];
    if (checker.getPropertyOfType(type, 'engine')) return [this.#store];
    const name = type.getSymbol()?.name;
    if (checker.isArrayLikeType(type) || name === 'Set' || name === 'ReadonlySet') {
      const [item] = checker.getTypeArguments(type as never);
      const items = item ? this.#examplesOf(item, depth + 1).slice(0, 2) : [];
      return [name === 'Set' || name === 'ReadonlySet' ? new Set(items) : items];
    }
    const properties = checker.getPropertiesOfType(type).map(property => {
      const examples = this.#examplesOf(checker.getTypeOfSymbol(property)!, depth + 1);
      return [property.name, examples] as const;
    });
    const first = Object.fromEntries(properties.map(([key, examples]) => [key, examples[0]]));
    const others = properties.flatMap(([key, [, ...examples]]) =>
      examples.map(value => ({ ...first, [key]: value })),
    );
    return [first, ...others].slice(0, MOST);
  }

  #moduleOf(node: Node): Promise<Evaluate> {
    const { fileName } = node.getSourceFile();
    let module = this.#modules.get(fileName);
    if (!module) {
      module = import(pathToFileURL(fileName) + EVALUATED).then(({ evaluate }) => evaluate);
      this.#modules.set(fileName, module!);
    }
    return module!;
  }
}

function attempt(compute: () => unknown): { value: unknown } | { error: unknown } {
  try {
    return { value: compute() };
  } catch (error) {
    return { error };
  }
}

/** The declaration of the variable or parameter that a name belongs to, such as `const [a, b] = …` for `a`. */
function localOf(declaration: Node): Local | undefined {
  if (isBindingElement(declaration)) return localOf(declaration.parent.parent);
  const isLocal = isVariableDeclaration(declaration) || isParameterDeclaration(declaration);
  return isLocal && functionAround(declaration) ? declaration : undefined;
}

/** Whether a variable has no initializer that can be evaluated by itself. */
function isInput(local: Local): boolean {
  if (isParameterDeclaration(local) || !local.initializer) return true;
  const kinds = [SyntaxKind.AwaitExpression, SyntaxKind.ThisKeyword];
  return [...nodesIn(local.initializer)].some(({ kind }) => kinds.includes(kind));
}

function functionAround({ parent }: Node): Node | undefined {
  return !parent || functionKinds.includes(parent.kind) ? parent : functionAround(parent);
}

function isInside(node: Node, outer: Node | undefined): boolean {
  return (
    outer !== undefined &&
    node.getSourceFile() === outer.getSourceFile() &&
    node.pos >= outer.pos &&
    node.end <= outer.end
  );
}
