import { languages, sample } from '../../../web/portal/samples.js';
import { callOf, exampleValues } from './call.ts';
import type { ContractView, Operation } from './contract.ts';
import { type Field, type Shape, shapesOf } from './fields.ts';
import { fieldOf } from './operation-page.ts';
import { ERRORS_URL, operationUrl } from './urls.ts';

/** The page of an operation as Markdown, with a sample for the command line. */
export function operationMarkdown(view: ContractView, operation: Operation, base: string): string {
  const { method, path, summary, description, scopes, deprecation, stability, parameters, body, responses } =
    operation;
  const parts = [`# ${summary}`, `\`${method} ${path}\``];
  if (stability) parts.push(`Stability: ${stability}`);
  if (deprecation)
    parts.push(
      `Deprecated: this operation returns 410 from ${deprecation.sunset}. Use \`${deprecation.successor}\` instead.`,
    );
  parts.push(description);
  if (scopes.length > 0)
    parts.push(`Requires the scope ${scopes.map(scope => `\`${scope}\``).join(' and ')}.`);
  const code = sample('curl', callOf(view, operation), exampleValues(operation), base);
  parts.push(fence(languages.curl!.grammar, code));
  if (parameters.length > 0) {
    const fields = parameters.map(parameter => {
      const field = fieldOf(view, parameter);
      return { ...field, type: `${parameter.in}, ${field.type}` };
    });
    parts.push('## Parameters', fieldItems([{ name: '', fields }]));
  }
  if (body) {
    parts.push('## Request body', `\`${body.type}\``, fieldItems(shapesOf(view, body.media.schema)));
  }
  parts.push('## Responses');
  for (const { status, description: meaning, isShared, type, media, examples } of responses) {
    if (isShared) continue;
    parts.push(`### ${status}`, meaning);
    if (Number(status) >= 400) continue;
    if (media && type === 'application/json') parts.push(fieldItems(shapesOf(view, media.schema)));
    const [example] = Object.values(examples);
    if (example !== undefined)
      parts.push(
        typeof example === 'string' ? fence('', example) : fence('json', JSON.stringify(example, null, 2)),
      );
  }
  const shared = responses.filter(({ isShared }) => isShared).map(({ status }) => status);
  if (shared.length > 0)
    parts.push(`Common to many operations: ${shared.join(', ')}, see [error codes](${ERRORS_URL}.md).`);
  return `${parts.filter(part => part !== '').join('\n\n')}\n`;
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
  const facts = [type, ...(isRequired ? ['required'] : []), ...rules].join('; ');
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
