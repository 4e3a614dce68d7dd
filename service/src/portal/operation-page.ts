import { languages, sample } from '../../../web/portal/samples.js';
import { type Html, html } from '../kit/html.ts';
import { inCode } from '../kit/text.ts';
import { callOf, exampleValues } from './call.ts';
import type { ContractView, Operation, Parameter, Response } from './contract.ts';
import { type Field, isLongPattern, rulesOf, type Shape, shapesOf, typeOf } from './fields.ts';
import { codeBlock, type Heading, rendered, renderedLine, tabs } from './markdown.ts';
import { messagesOf } from './own-messages.ts';
import { badges, markdownTools, methodLabel, onPage, type Site } from './shell.ts';
import { statusAnchor, statusTitle } from './status.ts';
import { tryIt } from './try-it-form.ts';
import { ERRORS_URL, errorUrl, operationUrl, resourceUrl } from './urls.ts';

/** The page of an operation: text in one column, request and response in another one. */
export function operationPage(site: Site, operation: Operation): Html {
  const { view } = site;
  const { id, method, path, tag, summary, description } = operation;
  const needed = requirement(operation);
  return html`<article class="operation" id="${id}">
<header>
<p class="crumbs note"><a href="${resourceUrl(tag)}">${tag}</a></p>
<h1>${summary}${badges(operation)}</h1>
<p class="endpoint">${methodLabel(method)}<code>${path}</code></p>
${deprecationNotice(view, operation)}
${rendered(description)}
${needed && html`<p class="note">${renderedLine(needed)}</p>`}
${onPage(sectionsOf(operation))}</header>
<aside class="panel" aria-label="Request and response"><div>
${requestCard(site, operation)}
${responseCard(operation)}
</div></aside>
<div class="text">
${parameters(view, operation, 'path', 'Path parameters')}
${parameters(view, operation, 'query', 'Query parameters')}
${bodySection(view, operation)}
${parameters(view, operation, 'header', 'Request headers')}
${responseSections(view, operation)}
${markdownTools(operationUrl(id))}
</div>
</article>`;
}

/** The headings of the page of an operation. */
function sectionsOf({ parameters, body }: Operation): Heading[] {
  const placed = (place: Parameter['in']) => parameters.some(parameter => parameter.in === place);
  return [
    placed('path') && { title: 'Path parameters', anchor: 'path' },
    placed('query') && { title: 'Query parameters', anchor: 'query' },
    body && { title: 'Request body', anchor: 'body' },
    placed('header') && { title: 'Request headers', anchor: 'header' },
    { title: 'Responses', anchor: 'responses' },
  ].flatMap(section => (section ? { ...section, depth: 2 } : []));
}

/** The scopes that an operation requires, in Markdown; `undefined` if any key, or none, is enough. */
export function requirement({ scopes, anyOfScopes }: Operation): string | undefined {
  if (scopes.length === 0) return undefined;
  const more = anyOfScopes.length > 0 ? `, and one of ${inCode(anyOfScopes)}` : '';
  return `Requires the ${scopes.length === 1 ? 'scope' : 'scopes'} ${inCode(scopes)}${more}.`;
}

function deprecationNotice(view: ContractView, operation: Operation): Html | undefined {
  const { deprecation } = operation;
  if (!deprecation) return undefined;
  const successor = view.successorOf(operation);
  const name = html`<code>${deprecation.successor}</code>`;
  return html`<p class="notice deprecation">Deprecated: this operation returns 410 from
<time datetime="${deprecation.sunset}">${deprecation.sunset}</time>. Use ${successor ? html`<a href="${operationUrl(successor.id)}">${name}</a>` : name} instead.</p>`;
}

function requestCard({ view, base }: Site, operation: Operation): Html {
  const call = callOf(view, operation);
  const values = exampleValues(operation);
  return html`<section class="card request" aria-label="Request" data-call="${JSON.stringify(call)}">
<div class="request-line">${methodLabel(operation.method)}<code>${breakable(operation.path)}</code>${
    operation.hasTryIt && html`<button class="send needs-script" type="button">Send</button>`
  }</div>
${tabs(Object.keys(languages).map(language => ({ language, code: sample(language, call, values, base) })))}
${tryIt(view, operation)}
</section>`;
}

/** A path that may continue on the next line after each slash. */
function breakable(path: string): Html {
  return html`${path.split(/(?<=\/)/).map((part, i) => html`${i > 0 && html`<wbr>`}${part}`)}`;
}

function responseCard({ responses }: Operation): Html {
  const [success] = responses.filter(({ status }) => status.startsWith('2'));
  const [example] = Object.values(success?.examples ?? {});
  return html`<section class="card response" aria-label="Response">
<div class="live" aria-live="polite"></div>
<div class="example"><p class="card-title">Response ${success && status(success)}</p>
${
  example === undefined
    ? html`<p class="empty note">No content</p>`
    : typeof example === 'string'
      ? codeBlock(example, 'text')
      : codeBlock(JSON.stringify(example, null, 2), 'json')
}</div></section>`;
}

function parameters(view: ContractView, operation: Operation, place: Parameter['in'], title: string) {
  const shown = operation.parameters.filter(parameter => parameter.in === place);
  if (shown.length === 0) return undefined;
  return html`<section class="${place}-parameters"><h2 id="${place}">${title}</h2>
${fieldList(shown.map(parameter => fieldOf(view, parameter)))}</section>`;
}

/** A parameter as a field. Its rules include its example. */
export function fieldOf(view: ContractView, parameter: Parameter): Field {
  const { name, required = false, description = '', schema, example } = parameter;
  const rules = rulesOf(view, schema);
  if (example !== undefined) rules.push(`example \`${[example].flat().join(', ')}\``);
  const anchor = `${parameter.in}.${name}`;
  return { name, anchor, type: typeOf(view, schema), isRequired: required, rules, description, shapes: [] };
}

function bodySection(view: ContractView, { body }: Operation): Html | undefined {
  if (!body) return undefined;
  return html`<section class="request-body"><h2 id="body">Request body</h2>
<p><code>${body.type}</code>${!body.isRequired && ', optional'}</p>
${shapeList(shapesOf(view, body.media.schema, 'body').map(writableFirst))}</section>`;
}

/** A shape whose last fields are those that the service ignores in a request. */
function writableFirst(shape: Shape): Shape {
  const isReadOnly = ({ rules }: Field) => rules.includes('read-only');
  return { ...shape, fields: shape.fields.toSorted((a, b) => Number(isReadOnly(a)) - Number(isReadOnly(b))) };
}

function responseSections(view: ContractView, operation: Operation): Html {
  const { responses } = operation;
  const own = responses.filter(({ isShared }) => !isShared);
  const successes = own.filter(({ status }) => Number(status) < 400);
  const errors = own.filter(({ status }) => Number(status) >= 400);
  const shared = responses.filter(({ isShared }) => isShared);
  return html`<h2 id="responses">Responses</h2>
${successes.map(
  response => html`<section data-code="${response.status}"><h3>${status(response)}</h3>
${rendered(response.description)}
${response.media && response.type === 'application/json' && fold(`Fields`, shapeList(shapesOf(view, response.media.schema, response.status)), true)}
${headers(response)}</section>`,
)}
${errors.map(
  response => html`<section data-code="${response.status}"><h3>${status(response)}</h3>
${codes(view, operation, response)}
${headers(response)}</section>`,
)}
${
  shared.length > 0 &&
  fold(
    `Errors of most operations: ${shared.map(({ status: code }) => code).join(', ')}`,
    html`${shared.map(
      response => html`<section data-shared="${response.status}"><h3><a href="${ERRORS_URL}#${statusAnchor(response.status)}">${statusTitle(response.status)}</a></h3>
${codes(view, operation, response)}</section>`,
    )}`,
  )
}`;
}

function status({ status: code }: Response): Html {
  return html`<span class="status" data-status="${code[0]}">${code}</span>`;
}

/** The codes of an error, each with its message in this operation. */
function codes(view: ContractView, operation: Operation, { examples }: Response): Html {
  return html`<dl class="codes">${messagesOf(view, operation, examples).map(
    ([code, message]) =>
      html`<div><dt><a href="${errorUrl(code)}"><code>${code}</code></a></dt><dd>${message}</dd></div>`,
  )}</dl>`;
}

function headers({ headers: all }: Response): Html | undefined {
  const entries = Object.entries(all);
  if (entries.length === 0) return undefined;
  return fold(
    'Headers',
    html`<dl class="headers">${entries.map(
      ([name, { description }]) => html`<div><dt>${name}</dt><dd>${renderedLine(description)}</dd></div>\n`,
    )}</dl>`,
  );
}

/** Shapes of a body: the first is visible, further ones fold. */
function shapeList(shapes: readonly Shape[]): Html {
  const [only] = shapes;
  if (shapes.length === 1 && only) return fieldList(only.fields);
  return html`${shapes.map(({ name, fields }, i) => html`<div class="member">${fold(name, fieldList(fields), i === 0)}</div>`)}`;
}

function fieldList(fields: readonly Field[]): Html {
  return html`<div class="fields">${fields.map(
    ({
      name,
      anchor,
      type,
      isRequired,
      rules,
      description,
      shapes,
    }) => html`<div class="field" id="${anchor}">
<p><a class="anchor" href="#${anchor}"><code>${name}</code></a> <span class="small-note">${type}</span>${isRequired && html` <span class="required small-note">required</span>`}</p>
${description !== '' && rendered(description)}
${ruleLine(rules)}
${shapes.length > 0 && fold('Fields', shapeList(shapes))}</div>\n`,
  )}</div>`;
}

function ruleLine(rules: readonly string[]): Html {
  const short = rules.filter(rule => !isLongPattern(rule));
  const long = rules.filter(isLongPattern);
  return html`${
    short.length > 0 &&
    html`<p class="small-note">${short.map((rule, i) => html`${i > 0 && ' · '}${renderedLine(rule)}`)}</p>`
  }${long.map(rule => fold('Pattern', html`<p class="small-note">${renderedLine(rule)}</p>`))}`;
}

function fold(title: string, content: Html, isOpen = false): Html {
  return html`<details${isOpen && html` open`}><summary>${title}</summary>${content}</details>`;
}
