import type { ContractView, Response } from './contract.ts';
import { shapesOf } from './fields.ts';
import type { Guide } from './guide.ts';
import { fence, fieldItems, operationLine, table } from './operation-markdown.ts';
import { statusTitle } from './status.ts';
import {
  CLIENT_URL,
  COMMAND_URL,
  chapterUrl,
  ERRORS_URL,
  EVENTS_URL,
  GUIDE_URL,
  operationUrl,
  PORTAL_URL,
  resourceUrl,
} from './urls.ts';

/** A page that is written in Markdown. */
export interface Document {
  url: string;
  title: string;
  /** With its title as heading. */
  markdown: string;
}

/** Every page except those of operations. */
export function documentsOf(view: ContractView, guide: Guide, base: string): Document[] {
  const chapters = guide.chapters.map(({ title, url }) => `- [${title}](${url})`);
  return [
    startPage(view, guide, base),
    document(GUIDE_URL, 'Guide', `${guide.introduction}\n\n${chapters.join('\n')}`),
    ...[...guide.chapters, ...guide.readmes].map(({ url, title, markdown }) =>
      document(url, title, markdown),
    ),
    ...view.document['x-tagGroups'].flatMap(({ tags }) => tags.map(tag => resourcePage(view, tag))),
    errorCatalogue(view),
    eventCatalogue(view),
  ];
}

function document(url: string, title: string, markdown: string): Document {
  return { url, title, markdown: `# ${title}\n\n${markdown.trim()}\n` };
}

function startPage(view: ContractView, guide: Guide, base: string): Document {
  const { info, 'x-tagGroups': groups } = view.document;
  const [quickstart] = guide.chapters;
  // The commands that set the variables and read something.
  const blocks = [...(quickstart?.markdown.matchAll(/```sh\n(.*?)```/gs) ?? [])];
  const commands = blocks
    .slice(0, 2)
    .map(([, command]) => command)
    .join('');
  const resources = groups.flatMap(({ tags }) =>
    tags.map(tag => [`[${tag}](${resourceUrl(tag)})`, descriptionOf(view, tag)]),
  );
  const chapters = guide.chapters.map(({ title, url }) => `[${title}](${url})`).join(' · ');
  return document(
    PORTAL_URL,
    info.title,
    `${info.description.split('\n', 1)[0]}

JSON over HTTP. Every request has an API key, and every page of an operation can send it.

## First request

On the machine of the service:

${fence('sh', commands)}

The [quickstart](${quickstart?.url ?? GUIDE_URL}) then places an order and reads what has changed.

## Resources

${table(['Resource', 'What it is'], resources)}

## Guide

${chapters}

Every [error code](${ERRORS_URL}) and every [type of event](${EVENTS_URL}) has its place in a catalogue.

## For programs

${installation(base)}

The contract is [openapi.yaml](/openapi.yaml). Every page is also Markdown, at its address with \`.md\` or with
\`Accept: text/markdown\`; [llms.txt](/llms.txt) lists them, and [llms-full.txt](/llms-full.txt) contains all of them.`,
  );
}

/** How to get the packages that the service offers. */
export function installation(base: string): string {
  return `- [Client for TypeScript and JavaScript](${CLIENT_URL}): \`npm install ${base}/packages/client.tgz\`
- [Command for the terminal](${COMMAND_URL}): \`npm install --global ${base}/packages/command.tgz\`, or without installing it
  \`npx ${base}/packages/command.tgz pets list\`
`;
}

function descriptionOf(view: ContractView, tag: string): string {
  return view.document.tags.find(({ name }) => name === tag)?.description ?? '';
}

function resourcePage(view: ContractView, tag: string): Document {
  const operations = view.withTag(tag);
  const reading = operations.find(
    ({ method, path, responses }) => method === 'GET' && /\}$/.test(path) && jsonOf(responses),
  );
  const media = jsonOf((reading ?? operations[0])?.responses ?? [])?.media;
  const parts = [descriptionOf(view, tag), operations.map(operationLine).join('\n')];
  if (media) {
    parts.push(`## Fields\n\n${fieldItems(shapesOf(view, media.schema))}`);
    if (media.example !== undefined) parts.push(fence('json', JSON.stringify(media.example, null, 2)));
  }
  return document(resourceUrl(tag), tag, parts.join('\n\n'));
}

function jsonOf(responses: readonly Response[]): Response | undefined {
  return responses.find(({ status, type }) => status.startsWith('2') && type === 'application/json');
}

/** All error codes by status. The headers and messages are those of the responses that operations share. */
function errorCatalogue(view: ContractView): Document {
  const codes = Object.entries(view.document['x-error-codes']);
  const statuses = [...new Set(codes.map(([, { status }]) => status))].toSorted((a, b) => a - b);
  const responses = view.operations.flatMap(operation => operation.responses);
  const sections = statuses.map(status => {
    const withStatus = responses.filter(response => response.status === String(status));
    const rows = codes
      .filter(([, meaning]) => meaning.status === status)
      .map(([code, { description }]) => [`\`${code}\``, description]);
    const shared = withStatus.find(({ isShared }) => isShared) ?? withStatus[0];
    const [example] = Object.values(shared?.examples ?? {});
    const headers = Object.keys(shared?.headers ?? {}).map(name => `\`${name}\``);
    const parts = [`## ${statusTitle(status)}`, table(['Code', 'Meaning'], rows)];
    if (example !== undefined) parts.push(fence('json', JSON.stringify(example)));
    if (headers.length > 0) parts.push(`Headers: ${headers.join(', ')}.`);
    return parts.join('\n\n');
  });
  return document(
    ERRORS_URL,
    'Error codes',
    `Every error has the same three fields. Programs use \`code\`, \`message\` is for people, and \`status\` repeats the HTTP status. The
guide explains what to do after an [error](${chapterUrl('Errors')}) and how to [back off](${chapterUrl('Backing off')}).

${sections.join('\n\n')}`,
  );
}

/** All types of events, by the shape of their data. */
function eventCatalogue(view: ContractView): Document {
  const kinds = (view.document.components.schemas.Event?.oneOf ?? []).map(kind => {
    const schema = view.schema(kind);
    const types = [...(schema.description ?? '').matchAll(/^`([\w.]+)`: (.*)$/gm)];
    const rows = types.map(([, type = '', meaning = '']) => [`\`${type}\``, meaning]);
    const first = types[0]?.[1] ?? '';
    const title = types.length === 1 ? first : `${first.split('.')[0]}.*`;
    const { data } = schema.properties ?? {};
    const fields = data ? fieldItems(shapesOf(view, data)) : '';
    const example = fence('json', JSON.stringify(schema.example, null, 2));
    return `## ${title}\n\n${table(['Type', 'Meaning'], rows)}\n\nFields of \`data\`:\n\n${fields}\n\n${example}`;
  });
  const { description = '' } = view.document.components.schemas.Event ?? {};
  const stream = view.operation('streamEvents');
  return document(
    EVENTS_URL,
    'Types of events',
    `${description}

Read events with [GET /events](${operationUrl('listEvents')})${stream ? `, as a [stream](${operationUrl(stream.id)})` : ''} or by
[webhooks](${chapterUrl('Webhooks')}). The [guide](${chapterUrl('Events')}) explains order and delivery.

${kinds.join('\n\n')}`,
  );
}
