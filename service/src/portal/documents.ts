import { type CodePages, codePagesOf, withCodeLinks } from './code-links.ts';
import type { ContractView, Response } from './contract.ts';
import { shapesOf } from './fields.ts';
import type { Guide, Manual } from './guide.ts';
import { type Health, healthSentence } from './health.ts';
import { fence, fieldItems, operationLine, table } from './operation-markdown.ts';
import { statusTitle } from './status.ts';
import {
  CHANGELOG_URL,
  CLIENT_URL,
  COMMAND_URL,
  chapterUrl,
  ERRORS_URL,
  EVENTS_URL,
  GUIDE_URL,
  operationUrl,
  PORTAL_URL,
  RUNNING_URL,
  resourceUrl,
  STATUS_URL,
} from './urls.ts';

/** A page that is written in Markdown. */
export interface Document {
  url: string;
  title: string;
  /** With its title as heading. Pages about the state of the service change with it. */
  markdown: string | ((health: Health) => string);
}

/** The text of a document in a state of the service. */
export function markdownOf({ markdown }: Document, health: Health): string {
  return typeof markdown === 'string' ? markdown : markdown(health);
}

/** Every page except those of operations. */
export function documentsOf(view: ContractView, guide: Guide, base: string): Document[] {
  const codePages = codePagesOf(view);
  return [
    startPage(view, guide, base),
    ...manualPages(GUIDE_URL, 'Guide', guide, codePages),
    ...view.document['x-tagGroups'].flatMap(({ tags }) => tags.map(tag => resourcePage(view, tag))),
    ...guide.readmes.map(({ url, title, markdown }) => document(url, title, markdown)),
    ...manualPages(RUNNING_URL, 'Run the service', guide.running, codePages),
    errorCatalogue(view),
    eventCatalogue(view),
    document(guide.changelog.url, guide.changelog.title, guide.changelog.markdown),
    statusPage,
  ];
}

function manualPages(
  url: string,
  title: string,
  { introduction, chapters }: Manual,
  codePages: CodePages,
): Document[] {
  const contents = chapters.map(chapter => `- [${chapter.title}](${chapter.url})`);
  return [
    document(url, title, `${introduction}\n\n${contents.join('\n')}`),
    ...chapters.map(chapter =>
      document(chapter.url, chapter.title, withCodeLinks(chapter.markdown, codePages)),
    ),
  ];
}

function document(url: string, title: string, markdown: string): Document {
  return { url, title, markdown: withTitle(title, markdown) };
}

function withTitle(title: string, markdown: string): string {
  return `# ${title}\n\n${markdown.trim()}\n`;
}

/** What readers come for, and where each begins. */
const doors = [
  [
    'Build a shop page',
    chapterUrl('Use the API from a browser'),
    'Show animals and stock in a page with a publishable key, and take orders through your server.',
  ],
  [
    'Receive events',
    chapterUrl('Webhooks'),
    'Your server gets every change as a signed webhook; or follow the log as a stream.',
  ],
  [
    'Import a catalogue',
    chapterUrl('Import a file'),
    'Create thousands of animals with their stock from a CSV file or from your own program.',
  ],
  [
    'Run it',
    RUNNING_URL,
    'Docker, systemd or Kubernetes: settings, backups, upgrades, failover and alerts of the service.',
  ],
] as const;

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
  const markdown = (health: Health) =>
    withTitle(
      info.title,
      `This HTTP API manages the animals, the categories, the orders and the stock of a pet shop. You send JSON with an API key, and your programs
can follow each change as an event.

${healthSentence(health)} [Status](${STATUS_URL})

## First request

On the machine of the service, these commands use the administrator's key. On any other machine, ask an administrator for a key, and set
\`KEY\` to that key:

${fence('sh', commands)}

The [quickstart](${quickstart?.url ?? GUIDE_URL}) then places an order and reads what has changed.

## What do you want to do?

${doors.map(([title, url, text]) => `- [${title}](${url}) ${text}`).join('\n')}

## Use the client

For TypeScript and JavaScript there is a [client](${CLIENT_URL}). It has types, reads lists page by page, waits when a limit is reached, and repeats
requests safely. In a terminal, the [command](${COMMAND_URL}) \`petstore\` does the same. Install both from this service:

${fence('sh', `npm install ${base}/packages/client.tgz\nnpm install --global ${base}/packages/command.tgz`)}

For other languages, [generate a client](${chapterUrl('Generate a client')}) from the contract, [openapi.yaml](/openapi.yaml).

## Resources

${table(['Resource', 'What it is'], resources)}

## Guide

${guide.chapters.map(({ title, url }) => `[${title}](${url})`).join(' · ')}

There are lists of every [error code](${ERRORS_URL}) and of every [type of event](${EVENTS_URL}). The [changelog](${CHANGELOG_URL}) states what is new.

## For programs

Every page is also Markdown, at its address with \`.md\` or with \`Accept: text/markdown\`. [llms.txt](/llms.txt) lists all pages, and
[llms-full.txt](/llms-full.txt) contains them.`,
    );
  return { url: PORTAL_URL, title: info.title, markdown };
}

const statusPage: Document = {
  url: STATUS_URL,
  title: 'Status',
  markdown: health =>
    withTitle(
      'Status',
      `**${healthSentence(health)}**

${health.problems.map(problem => `- ${problem}`).join('\n')}

This is the state of the replica that sent this page, at the time of the request. Load the page again to see the newest state.

## For programs

| Request | Response |
| --- | --- |
| [GET /readyz](${operationUrl('getReadiness')}) | 200 with \`"status": "ok"\`, or with \`"status": "degraded"\` and the problems in \`message\`. 503 when requests are not served. |
| [GET /healthz](${operationUrl('getHealth')}) | 200 while the process runs. |

Both need no API key and use no quota. When the service is unavailable, requests get 503 with \`Retry-After\`, and [Backing off](${chapterUrl('Backing off')})
explains how a program waits. The state of your own key, with its limits and a ban, is in [GET /account](${operationUrl('getAccount')}).`,
    ),
};

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
    const shapes = shapesOf(view, media.schema);
    const [last] = shapes.slice(-1);
    // Only events have alternatives. The last one is of no type, and has what all types have.
    const isEvent = shapes.length > 1;
    if (isEvent) parts.push(`\`data\` depends on the type: see the [types of events](${EVENTS_URL}).`);
    if (last) parts.push(`## Fields\n\n${fieldItems([isEvent ? { ...last, name: '' } : last])}`);
    if (media.example !== undefined) parts.push(fence('json', JSON.stringify(media.example, null, 2)));
  }
  return document(resourceUrl(tag), tag, parts.join('\n\n'));
}

function jsonOf(responses: readonly Response[]): Response | undefined {
  return responses.find(({ status, type }) => status.startsWith('2') && type === 'application/json');
}

/** The headers that each of the responses has. */
function headersOfAll(responses: readonly Response[]): ReadonlySet<string> {
  const [first, ...others] = responses.map(({ headers }) => new Set(Object.keys(headers)));
  return others.reduce((common, headers) => common.intersection(headers), first ?? new Set());
}

function headerList(names: ReadonlySet<string>): string {
  return [...names].map(name => `\`${name}\``).join(', ');
}

/** All error codes by status. The messages are those of the responses that operations share. */
function errorCatalogue(view: ContractView): Document {
  const codes = Object.entries(view.document['x-error-codes']);
  const statuses = [...new Set(codes.map(([, { status }]) => status))].toSorted((a, b) => a - b);
  const responses = view.operations.flatMap(operation => operation.responses);
  const errors = responses.filter(({ status }) => Number(status) >= 400);
  // Of a code that several operations have, the first message.
  const examples = errors.toReversed().flatMap(response => Object.entries(response.examples));
  const messages = new Map(
    examples.map(([code, example]) => [code, (example as { message: string }).message]),
  );
  const common = headersOfAll(errors);
  const sections = statuses.map(status => {
    const rows = codes
      .filter(([, meaning]) => meaning.status === status)
      .map(([code, { description }]) => {
        const message = messages.get(code);
        return [
          `\`${code}\``,
          message === undefined ? description : `${description} For example: “${message}”`,
        ];
      });
    const withStatus = errors.filter(response => response.status === String(status));
    const own = headersOfAll(withStatus).difference(common);
    const parts = [`## ${statusTitle(status)}`, table(['Code', 'Meaning'], rows)];
    if (own.size > 0) parts.push(`Further headers: ${headerList(own)}.`);
    return parts.join('\n\n');
  });
  return document(
    ERRORS_URL,
    'Error codes',
    `Every error has the same three fields. Programs use \`code\`, \`message\` is for people, and \`status\` repeats the HTTP status. The
guide explains what to do after an [error](${chapterUrl('Errors')}) and how to [back off](${chapterUrl('Backing off')}).

${fence('json', JSON.stringify(examples.at(-1)?.[1], null, 2))}

Headers that every error can have: ${headerList(common)}.

${sections.join('\n\n')}`,
  );
}

/** A type, or a pattern for types with the same beginning: `key.plan_*` for `key.plan_approved` and `key.plan_declined`. */
function pattern(types: readonly string[]): string {
  const [first = '', ...others] = types;
  if (others.length === 0) return first;
  const length = [...first].findIndex((letter, i) => others.some(type => type[i] !== letter));
  return `${first.slice(0, length).replace(/[^._]*$/, '')}*`;
}

/** All types of events, by the shape of their data. */
function eventCatalogue(view: ContractView): Document {
  const kinds = (view.document.components.schemas.KnownEvent?.oneOf ?? []).map(kind => {
    const schema = view.schema(kind);
    const types = [...(schema.description ?? '').matchAll(/^`([\w.]+)`: (.*)$/gm)];
    const rows = types.map(([, type = '', meaning = '']) => [`\`${type}\``, meaning]);
    const title = pattern(types.map(([, type = '']) => type));
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
