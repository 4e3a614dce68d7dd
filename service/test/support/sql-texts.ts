import {
  isBinaryExpression,
  isCallExpression,
  isIdentifier,
  isNewExpression,
  isNoSubstitutionTemplateLiteral,
  isPropertyAccessExpression,
  isStringLiteral,
  isTemplateExpression,
  type Node,
} from 'typescript/unstable/ast';
import type { Engine } from '../../src/db/database.ts';
import { Table } from '../../src/db/table.ts';
import { Evaluator, UNKNOWN } from './evaluate.ts';
import type { Finding, Program } from './program.ts';

/** A statement that the program sends to an engine. */
export interface Statement extends Finding {
  sql: string;
}

const STATEMENT = /^\s*(SELECT|INSERT INTO|UPDATE|DELETE FROM|WITH)\s/;

/** Finds the statements of a program without running it, also those of functions that nothing calls. */
export class Statements {
  readonly #evaluator: Evaluator;
  readonly #sources: readonly { node: Node; place: Finding }[];
  readonly #store: { engine: Engine } = { engine: 'sqlite' };

  constructor(program: Program) {
    this.#evaluator = new Evaluator(program, this.#store);
    this.#sources = program.files.flatMap(sourcesIn).map(node => ({
      node,
      place: program.findingAt(node, 'The statement does not follow from the program'),
    }));
  }

  /** The statements that `engine` gets, and the places whose statements do not follow from the text of the program. */
  async of(engine: Engine): Promise<{ statements: Statement[]; unknown: Finding[] }> {
    this.#store.engine = engine;
    const statements: Statement[] = [];
    const missing: { node: Node; place: Finding }[] = [];
    for (const { node, place } of this.#sources.filter(
      ({ place }) => !isOnlyOf(otherThan(engine), place.file),
    )) {
      const values = await this.#evaluator.valuesOf(node).catch(() => [UNKNOWN]);
      const texts = new Set(values.flatMap(value => textsOf(value, node, engine)));
      if ([...texts].some(text => text.includes(UNKNOWN))) missing.push({ node, place });
      else for (const sql of texts) if (!OF_OTHER[engine].test(sql)) statements.push({ ...place, sql });
    }
    const isPartOfOther = ({ node }: { node: Node }) =>
      /\b(FROM|INTO|UPDATE) [a-z]/.test(node.getText()) &&
      statements.some(({ sql }) => patternOf(node).test(sql));
    return { statements, unknown: missing.filter(one => !isPartOfOther(one)).map(({ place }) => place) };
  }
}

/** What only statements for the other engine contain. */
const OF_OTHER = { sqlite: /\$\d/, postgres: /\bNOT INDEXED\b|\bsqlite_schema\b/ };

/** Matches statements that contain the text of a node, with anything instead of its values. */
function patternOf(node: Node): RegExp {
  const parts = isTemplateExpression(node)
    ? [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)]
    : [node.getText()];
  return new RegExp(parts.map(part => RegExp.escape(part)).join('[^]*'));
}

function otherThan(engine: Engine): Engine {
  return engine === 'sqlite' ? 'postgres' : 'sqlite';
}

/** Whether only one engine gets the statements of a file. */
function isOnlyOf(engine: Engine, file: string): boolean {
  const names = {
    sqlite: /\/db\/(.*sqlite|embedded-source|snapshot|store-lock|store-directory|check-store)/,
    postgres: /\/db\/.*postgres/,
  };
  return names[engine].test(file);
}

/** The expressions from which statements come: texts, tables, and inserts. */
function sourcesIn(part: Node): Node[] {
  const found: Node[] = [];
  const visit = (node: Node) => {
    if (isText(node) && STATEMENT.test(startOf(node))) {
      found.push(node);
      return;
    }
    const isTable = isNewExpression(node) && node.expression.getText() === 'Table';
    const isInsert = isCallExpression(node) && node.expression.getText() === 'insertInto';
    const isInsertLater = isCallExpression(node) && calledName(node.expression) === 'insertLater';
    if (isTable || isInsert) found.push(node);
    if (isInsertLater && isText(node.arguments[0]!)) found.push(node.arguments[0]!);
    node.forEachChild(child => void visit(child));
  };
  visit(part);
  return found;
}

function calledName(callee: Node): string | undefined {
  if (isPropertyAccessExpression(callee)) return callee.name.text;
  return isIdentifier(callee) ? callee.text : undefined;
}

/** Whether a node is a text, perhaps one of several parts with values between them. */
function isText(node: Node): boolean {
  if (isBinaryExpression(node)) return isText(node.left) && node.operatorToken.getText() === '+';
  return isStringLiteral(node) || isNoSubstitutionTemplateLiteral(node) || isTemplateExpression(node);
}

function startOf(node: Node): string {
  if (isBinaryExpression(node)) return startOf(node.left);
  if (isTemplateExpression(node)) return `${node.head.text} `;
  return isStringLiteral(node) || isNoSubstitutionTemplateLiteral(node) ? node.text : '';
}

/** The statements of a value that one of the expressions can have. */
function textsOf(value: unknown, node: Node, engine: Engine): string[] {
  if (value instanceof Table) {
    const { name, columns, written, parameters, assignments } = value;
    return [
      `SELECT ${columns} FROM ${name} WHERE id = ?`,
      `INSERT INTO ${name} (${written.join(', ')}) VALUES (${parameters})`,
      `UPDATE ${name} SET ${assignments} WHERE id = ?`,
    ];
  }
  if (typeof value === 'object') return [String((value as Record<Engine, string>)[engine])];
  const text = String(value);
  if (STATEMENT.test(text) || isTemplateExpression(node)) return [text];
  // A table with columns, such as `words (word)`.
  const columns = text.split(',').map(() => '?');
  return [`INSERT INTO ${text} VALUES (${columns.join(', ')})`];
}
