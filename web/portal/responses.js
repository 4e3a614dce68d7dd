// @ts-check
/**
 * The responses of an operation: the one to the reader's request, and those that the document describes.
 *
 * @typedef {import('./types.d.ts').Immutable} Immutable
 * @typedef {import('./types.d.ts').ViewerSystem} ViewerSystem
 * @typedef {Record<string, string | string[]>} Headers
 */
import { asCurl } from './samples.js';

/** The headers with the remaining requests, in the order in which they appear. */
const rateLimitHeaders = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset', 'Retry-After'];

/** @param {ViewerSystem} system */
export function responses({ React, getComponent, specSelectors }) {
  const h = React.createElement;

  /** @param {{ headers: Headers }} props */
  const RateLimit = ({ headers }) => {
    const present = rateLimitHeaders.filter(name => headers[name.toLowerCase()] !== undefined);
    if (present.length === 0) return null;
    return h(
      'dl',
      { className: 'rate-limit', 'data-rate-limit': '', 'aria-label': 'Rate limit' },
      present.map(name => {
        const value = String(headers[name.toLowerCase()]);
        const time = name.endsWith('Reset')
          ? ` (${new Date(Number(value) * 1000).toLocaleTimeString()})`
          : '';
        return h('div', { key: name }, h('dt', null, name), h('dd', null, value, time));
      }),
    );
  };

  /** @param {{ label: string, text: string }} props */
  const Code = ({ label, text }) => h('pre', { tabIndex: 0, 'aria-label': label }, h('code', null, text));

  /** @param {{ response: Immutable, path: string, method: string }} props */
  const LiveResponse = ({ response, path, method }) => {
    /** @type {Headers} */
    const headers = response.get('headers')?.toJS?.() ?? response.get('headers') ?? {};
    // The viewer passes an empty body as a Blob.
    const body = response.get('text');
    const text = typeof body === 'string' ? body : '';
    const duration = response.get('duration');
    // The viewer also sets a message for a response of 4xx or 5xx; this one is for requests without a response.
    const failure = response.get('status') === undefined && response.get('message');
    return h(
      'section',
      {
        className: 'live-response live-responses-table',
        'aria-label': 'Response to your request',
        role: 'region',
      },
      h('h5', null, 'Response'),
      h(
        'p',
        { className: 'live-status', role: 'status' },
        h(
          'strong',
          { className: 'response-col_status status', 'data-class': String(response.get('status'))[0] },
          response.get('status') ?? 'none',
        ),
        duration !== undefined && h('span', { className: 'duration' }, `${duration} ms`),
        failure && h('span', { className: 'failure' }, failure),
      ),
      h(RateLimit, { headers }),
      text ? h(Code, { label: 'Body of the response', text: readable(text, headers['content-type']) }) : null,
      h(
        'details',
        null,
        h('summary', null, 'Response headers'),
        h(Code, {
          label: 'Headers of the response',
          text: Object.entries(headers)
            .map(([name, value]) => `${name}: ${value}`)
            .join('\n'),
        }),
      ),
      h(SentRequest, { path, method }),
    );
  };

  /** The request as curl would send it, with `$KEY` for the key. @param {{ path: string, method: string }} props */
  const SentRequest = ({ path, method }) => {
    /** @type {Immutable | undefined} */
    const request = specSelectors.requestFor?.(path, method);
    if (!request) return null;
    const { url, headers, body } = request.toJS();
    const secured = specSelectors.specJson?.().getIn(['paths', path, method, 'security'])?.size > 0;
    const sent = {
      method: method.toUpperCase(),
      url,
      headers: { ...(secured && { 'X-API-Key': '$KEY' }), ...headers },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    };
    return h(
      'details',
      { className: 'curl-command' },
      h('summary', null, 'Request as curl'),
      h(Code, { label: 'The request as curl', text: asCurl(sent) }),
    );
  };

  /** @param {any} props */
  const DocumentedResponse = ({ code, response, specPath, getConfigs }) => {
    const [open, setOpen] = React.useState(code.startsWith('2'));
    const media = response.get('content')?.entrySeq().toArray()[0];
    const examples = media?.[1].get('examples')?.entrySeq().toArray() ?? [];
    const Markdown = getComponent('Markdown', true);
    return h(
      'details',
      {
        className: 'response',
        'data-code': code,
        open,
        /** @param {{ currentTarget: HTMLDetailsElement }} event */
        onToggle: event => setOpen(event.currentTarget.open),
      },
      h(
        'summary',
        null,
        h('span', { className: 'status', 'data-class': code[0] }, code),
        examples.length > 0
          ? examples.map(/** @param {[string]} example */ ([name]) => h('code', { key: name }, name))
          : h('span', null, response.get('description')),
      ),
      // Rendered only when open: an operation has a dozen responses, and a reader looks at two.
      open &&
        h(
          'div',
          { className: 'response-inner' },
          examples.length > 0 && h(Markdown, { source: response.get('description') }),
          media && h(Shape, { media: media[1], type: media[0], examples, specPath, getConfigs }),
          h(DocumentedHeaders, { headers: response.get('headers') }),
        ),
    );
  };

  /** The shape and an example of a body. @param {any} props */
  const Shape = ({ media, type, examples, specPath, getConfigs }) => {
    const ModelExample = getComponent('modelExample', true);
    const example = media.get('example') ?? examples[0]?.[1].get('value');
    const value = example?.toJS?.() ?? example;
    const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
    return h(
      React.Fragment,
      null,
      h('p', { className: 'media-type' }, h('code', null, type)),
      value !== undefined &&
        h(ModelExample, {
          schema: media.get('schema'),
          example: h(Code, { label: 'Example', text }),
          specPath: specPath.push('content', type, 'schema'),
          getConfigs,
          getComponent,
          specSelectors,
          includeReadOnly: true,
        }),
    );
  };

  /** @param {{ headers?: Immutable }} props */
  const DocumentedHeaders = ({ headers }) => {
    if (!headers?.size) return null;
    const Markdown = getComponent('Markdown', true);
    return h(
      'details',
      { className: 'headers-wrapper' },
      h('summary', null, `${headers.size} headers`),
      h(
        'table',
        { className: 'headers' },
        h(
          'thead',
          null,
          h('tr', null, h('th', { scope: 'col' }, 'Header'), h('th', { scope: 'col' }, 'Meaning')),
        ),
        h(
          'tbody',
          null,
          headers
            .entrySeq()
            .toArray()
            .map(([name, header]) =>
              h(
                'tr',
                { key: name },
                h('td', null, h('code', null, name)),
                h(
                  'td',
                  null,
                  h(Markdown, { source: header.get('description') }),
                  header.get('example') !== undefined && h('code', null, String(header.get('example'))),
                ),
              ),
            ),
        ),
      ),
    );
  };

  /** @param {any} props */
  const Responses = ({ responses, tryItOutResponse, path, method, specPath, getConfigs }) =>
    h(
      'div',
      { className: 'responses-wrapper' },
      tryItOutResponse && h(LiveResponse, { response: tryItOutResponse, path, method }),
      h('div', { className: 'opblock-section-header' }, h('h5', null, 'Responses')),
      responses
        .entrySeq()
        .toArray()
        .map(
          /** @param {[string, Immutable]} entry */ ([code, response]) =>
            h(DocumentedResponse, { key: code, code, response, specPath: specPath.push(code), getConfigs }),
        ),
    );

  return { components: { responses: Responses, liveResponse: LiveResponse } };
}

/**
 * The body with indentation, if it is JSON.
 *
 * @param {string} text
 * @param {string | string[] | undefined} type
 */
function readable(text, type) {
  if (!/\bjson\b/.test(String(type))) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
