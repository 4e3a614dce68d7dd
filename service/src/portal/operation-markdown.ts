import { languages, sample } from '../../../web/portal/samples.js';
import { callOf, exampleValues } from './call.ts';
import type { ContractView, Operation, Response } from './contract.ts';
import { type Field, isLongPattern, type Shape, shapesOf } from './fields.ts';
import { fieldOf, requirement } from './operation-page.ts';
import { messagesOf } from './own-messages.ts';
import { ERRORS_URL, operationUrl } from './urls.ts';

/** The page of an operation as Markdown, with a sample for the command line. */
export function operationMarkdown(view: ContractView, operation: Operation, base: string): string {
  const { method, path, summary, description, deprecation, stability, parameters, body, responses } =
    operation;
  const parameterFields = parameters.map(parameter => {
    const field = fieldOf(view, parameter);
    return { ...field, type: `${parameter.in}, ${field.type}` };
  });
  const shared = responses.filter(({ isShared }) => isShared).map(({ status }) => status);
  const code = sample('curl', callOf(view, operation), exampleValues(operation), base);
  const parts = [
    `# ${summary}`,
    `\`${method} ${path}\``,
    stability && `Stability: ${stability}`,
    deprecation &&
      `Deprecated: this operation returns 410 from ${deprecation.sunset}. Use \`${deprecation.successor}\` instead.`,
    description,
    requirement(operation),
    fence(languages.curl!.grammar, code),
    parameters.length > 0 && `## Parameters\n\n${fieldItems([{ name: '', fields: parameterFields }])}`,
    body && `## Request body\n\n\`${body.type}\`\n\n${fieldItems(shapesOf(view, body.media.schema))}`,
    '## Responses',
    ...responses
      .filter(({ isShared }) => !isShared)
      .flatMap(response => responseParts(view, operation, response)),
    shared.length > 0 &&
      `Common to many operations: ${shared.join(', ')}, see [error codes](${ERRORS_URL}.md).`,
  ];
  return `${parts.filter(Boolean).join('\n\n')}\n`;
}

function responseParts(
  view: ContractView,
  operation: Operation,
  { status, description, type, media, examples }: Response,
) {
  const parts = [`### ${status}`, description];
  if (Number(status) >= 400) {
    const codes = messagesOf(view, operation, examples);
    return [`### ${status}`, codes.map(([code, message]) => `- \`${code}\`: ${message}`).join('\n')];
  }
  const [example] = Object.values(examples);
  if (media && type === 'application/json') parts.push(fieldItems(shapesOf(view, media.schema)));
  if (typeof example === 'string') parts.push(fence('', example));
  else if (example !== undefined) parts.push(fence('json', JSON.stringify(example, null, 2)));
  return parts;
}

/** A line of a list of operations. */
export function operationLine({ id, method, path, summary, stability, deprecation }: Operation): string {
  const notes = [stability, deprecation && 'deprecated'].filter(note => note !== undefined);
  const note = notes.length > 0 ? ` (${notes.join(', ')})` : '';
  return `- [${summary}](${operationUrl(id)}): \`${method} ${path}\`${note}`;
}

/** Fields as nested lists. */
export function fieldItems(shapes: readonly Shape[], indent = ''): string {
  return shapes
    .map(({ name, fields }) => {
      if (name === '') return fields.map(field => fieldItem(field, indent)).join('\n');
      return `${indent}- ${name}\n${fields.map(field => fieldItem(field, `${indent}  `)).join('\n')}`;
    })
    .join('\n');
}

function fieldItem({ name, type, isRequired, rules, description, shapes }: Field, indent: string): string {
  const shown = rules.map(rule => (isLongPattern(rule) ? 'pattern in [openapi.yaml](/openapi.yaml)' : rule));
  const facts = [type, ...(isRequired ? ['required'] : []), ...shown].join('; ');
  const text = description.replaceAll(/\s*\n\s*/g, ' ');
  const line = `${indent}- \`${name}\` (${facts})${text && `: ${text}`}`;
  return shapes.length > 0 ? `${line}\n${fieldItems(shapes, `${indent}  `)}` : line;
}

export function table(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map(cell => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(columns), line(columns.map(() => '---')), ...rows.map(line)].join('\n');
}

export function fence(language: string, code: string): string {
  return `\`\`\`${language}\n${code.trimEnd()}\n\`\`\``;
}
