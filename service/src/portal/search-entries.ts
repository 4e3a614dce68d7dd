import type { Entry } from '../../../web/portal/types.d.ts';
import type { ContractView, Operation } from './contract.ts';
import type { Document } from './documents.ts';
import { type Field, type Shape, shapesOf } from './fields.ts';
import { statusTitle } from './status.ts';
import { ERRORS_URL, EVENTS_URL, operationUrl, slugOf } from './urls.ts';

/** What readers can search for: operations, parameters, fields, error codes, events and sections of the guide. */
export function searchEntries(view: ContractView, documents: readonly Document[]): Entry[] {
  const codes = Object.entries(view.document['x-error-codes']).map(([code, { status, description }]) => ({
    url: `${ERRORS_URL}#${code}`,
    title: code,
    page: statusTitle(status),
    kind: String(status),
    text: description,
  }));
  return [
    ...view.operations.flatMap(operation => entriesOf(view, operation)),
    ...codes,
    ...documents.flatMap(sectionsOf),
  ];
}

function entriesOf(view: ContractView, operation: Operation): Entry[] {
  const { id, method, path, summary, description, parameters, body, responses } = operation;
  const url = operationUrl(id);
  const part = (name: string, anchor: string, kind: string, text: string) => ({
    url: `${url}#${anchor}`,
    title: name,
    page: summary,
    kind,
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
    { url, title: summary, page: `${method} ${path}`, kind: method, text: `${id} ${description}` },
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
function sectionsOf({ url, title, markdown }: Document): Entry[] {
  if (url === ERRORS_URL) return [];
  const kind = url === EVENTS_URL ? 'events' : 'guide';
  const [first = '', ...rest] = markdown.split(/^#{2,3} (?=.+$)/m);
  return [
    { url, title, page: '', kind, text: first },
    ...rest.map(text => {
      const [heading = ''] = text.split('\n', 1);
      return { url: `${url}#${slugOf(heading)}`, title: heading, page: title, kind, text };
    }),
  ];
}
