import type { Entry } from '../../../web/portal/types.d.ts';
import type { ContractView, Operation } from './contract.ts';
import { type Document, markdownOf } from './documents.ts';
import { type Field, type Shape, shapesOf } from './fields.ts';
import { working } from './health.ts';
import weights from './search-weights.json' with { type: 'json' };
import { statusAnchor, statusTitle } from './status.ts';
import {
  CHANGELOG_URL,
  ERRORS_URL,
  EVENTS_URL,
  errorUrl,
  GUIDE_URL,
  operationUrl,
  PORTAL_URL,
  slugOf,
} from './urls.ts';

/** The words that speak for each page, with their weights. */
const wordsOf = new Map(Object.entries(weights));

/** What readers can search for: operations, parameters, fields, error codes, events and sections of the guide. */
export function searchEntries(view: ContractView, documents: readonly Document[]): Entry[] {
  return [
    ...documents.flatMap(sectionsOf),
    ...view.operations.flatMap(operation => entriesOf(view, operation)),
    ...errorEntries(view),
  ].map(entry => {
    const words = wordsOf.get(entry.url);
    return { ...entry, text: plain(entry.text), ...(words !== undefined && { words }) };
  });
}

/** The statuses of errors and their codes. */
function errorEntries({ document }: ContractView): Entry[] {
  const codes = Object.entries(document['x-error-codes']);
  const level = 'error' as const;
  const statuses = Map.groupBy(codes, ([, { status }]) => status);
  return [
    ...[...statuses].map(([status, ofStatus]) => ({
      url: `${ERRORS_URL}#${statusAnchor(status)}`,
      title: statusTitle(status),
      page: 'Error codes',
      kind: String(status),
      level,
      text: ofStatus.map(([code]) => code).join(', '),
    })),
    ...codes.map(([code, { status, description }]) => ({
      url: errorUrl(code),
      title: code,
      page: statusTitle(status),
      kind: String(status),
      level,
      text: description,
    })),
  ];
}

/** The text of Markdown: a line for each paragraph, row of a table and line of code. */
function plain(markdown: string): string {
  return markdown
    .split(/^```.*$/m)
    .map((part, i) => (i % 2 === 1 ? '' : proseOf(part)))
    .join('\n')
    .replace(/\n\s*/g, '\n')
    .trim();
}

function proseOf(markdown: string): string {
  return (
    markdown
      .replace(/^\|[ |:-]+\|$/gm, '')
      // The type and the limits of a field.
      .replace(/^( *- `[^`]+`) \(.*?\)(?=: |$)/gm, '$1')
      .replace(/\n(?![\n|#-]|\d+\. )/g, ' ')
      .replace(/^(?:#+|-|\||\d+\.) |`|\*\*| \|$/gm, '')
      .replace(/ \| /g, ' · ')
      .replace(/\[([^\]]+)\]\([^)]*\)/g, '$1')
      .replace(/ {2,}/g, ' ')
  );
}

function entriesOf(view: ContractView, operation: Operation): Entry[] {
  const { id, method, path, summary, description, parameters, body, responses } = operation;
  const url = operationUrl(id);
  const part = (name: string, anchor: string, level: 'parameter' | 'field', text: string) => ({
    url: `${url}#${anchor}`,
    title: name,
    page: summary,
    kind: level,
    level,
    text,
  });
  const success = responses.find(({ status }) => status.startsWith('2'));
  const fields = [
    ...(body ? fieldsIn(shapesOf(view, body.media.schema, 'body')) : []),
    ...(success?.media ? fieldsIn(shapesOf(view, success.media.schema, success.status)) : []),
  ];
  // Of fields with the same name, that of the request is found.
  const unique = new Map(fields.toReversed().map(field => [field.name, field]));
  return [
    { url, title: summary, page: `${method} ${path}`, kind: method, level: 'operation', text: description },
    ...parameters
      .filter(({ in: place }) => place !== 'header')
      .map(({ name, in: place, description: text = '' }) =>
        part(name, `${place}.${name}`, 'parameter', text),
      ),
    ...[...unique.values()].map(({ name, anchor, description: text }) => part(name, anchor, 'field', text)),
  ];
}

/** All fields with a description, also those of nested objects. */
function fieldsIn(shapes: readonly Shape[]): Field[] {
  return shapes.flatMap(({ fields }) => fields.flatMap(field => [field, ...fieldsIn(field.shapes)]));
}

/** The sections of a document, one for each heading. */
function sectionsOf(document: Document): Entry[] {
  const { url, title } = document;
  const markdown = markdownOf(document, working);
  const isGuide = url.startsWith(GUIDE_URL);
  const kind = isGuide ? 'guide' : url === EVENTS_URL ? 'events' : 'page';
  const level: Entry['level'] = isGuide ? 'guide' : 'page';
  const [first = '', ...rest] = markdown.split(/^#{2,3} (?=.+$)/m);
  const page = { url, title, page: '', kind, level, text: first.replace(/^# .*/, '') } as const;
  // The codes have entries of their own. What the start page and the changelog name is described elsewhere.
  if (url === ERRORS_URL || url === CHANGELOG_URL || url === PORTAL_URL) return [page];
  return [
    page,
    ...rest.map(text => {
      const [heading = ''] = text.split('\n', 1);
      return {
        url: `${url}#${slugOf(heading)}`,
        title: heading,
        page: title,
        kind,
        level,
        text: text.slice(heading.length),
      };
    }),
  ];
}
