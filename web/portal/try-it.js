// @ts-check
/**
 * The form of an operation: samples follow its values, and it sends the request.
 *
 * @typedef {import('./types.d.ts').Call} Call
 * @typedef {import('./types.d.ts').SampleRequest} SampleRequest
 * @typedef {import('./types.d.ts').Values} Values
 */
import { highlighted } from './highlight.js';
import { remember, remembered } from './key.js';
import { LiveResponse } from './live-response.js';
import { requestOf } from './request.js';
import { languages, sample } from './samples.js';

/** @typedef {HTMLInputElement | HTMLSelectElement | HTMLFieldSetElement} Control */

/** What the places of the samples contain while the form describes no request. */
const NO_SAMPLE = 'The body is not valid JSON';

/** The parameters of a query that can change between the pages of a list. */
const keepsCursor = new Set(['cursor', 'limit', 'count', 'wait']);

/**
 * @param {HTMLElement} card the element with the call, the samples and the form
 * @param {string} base the URL of the service, without a slash at its end
 */
export function useForm(card, base) {
  const form = /** @type {HTMLElement | null} */ (card.querySelector('.try'));
  if (!form) return;
  /** @type {Call} */
  const call = JSON.parse(card.dataset.call ?? '');
  const controls = /** @type {NodeListOf<Control>} */ (form.querySelectorAll('[data-parameter]'));
  const body = form.querySelector('textarea');
  const message = /** @type {HTMLElement} */ (form.querySelector('.try-message'));
  const samples = /** @type {HTMLElement} */ (card.querySelector('.samples'));
  const send = /** @type {HTMLButtonElement} */ (card.querySelector('.send'));
  const live = new LiveResponse(/** @type {HTMLElement} */ (document.querySelector('.live')));
  /** Whether the page fills in If-Match: only for changes, and until the reader changes it. */
  let fillsETag = call.method !== 'GET';
  /** The cursor that the page has filled in last. */
  let filledCursor = '';

  /** @param {string} name @returns {Control | undefined} */
  const control = name => [...controls].find(({ dataset }) => dataset.parameter === name);

  /** @returns {Values} */
  const values = () => ({
    parameters: Object.fromEntries(
      [...controls].map(field => [field.dataset.parameter ?? '', textOf(field)]),
    ),
    body: body?.value,
  });

  /** Fills in the ETag that this tab has read last, for the resource of the form. */
  const fillETag = () => {
    const field = control('If-Match');
    if (!(field instanceof HTMLInputElement) || !fillsETag) return;
    const { url } = requestOf({ ...call, bodyType: undefined }, values(), '');
    field.value = remembered(`etag ${url}`);
  };

  /** The request of the form. If the body is not JSON there is none, and the message states it. */
  const currentRequest = () => {
    try {
      const request = requestOf(call, values(), base);
      body?.removeAttribute('aria-invalid');
      message.textContent = '';
      return request;
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      body?.setAttribute('aria-invalid', 'true');
      message.textContent = `${NO_SAMPLE}: ${error.message}`;
      return undefined;
    }
  };

  const update = () => {
    fillETag();
    const hasRequest = currentRequest() !== undefined;
    // The fields below stay in their place while there are no samples.
    samples.style.minHeight = hasRequest ? '' : `${samples.getBoundingClientRect().height}px`;
    for (const [language, { grammar }] of Object.entries(languages)) {
      const place = samples.querySelector(`:scope > [data-language=${language}] code`);
      if (!place) continue;
      place.innerHTML = hasRequest ? highlighted(sample(language, call, values(), base), grammar) : NO_SAMPLE;
    }
  };

  /** A cursor belongs to the filters and the order of its list. One that the reader typed stays. */
  const forgetPage = () => {
    const cursor = control('cursor');
    if (cursor instanceof HTMLInputElement && cursor.value === filledCursor) cursor.value = '';
    document.querySelector('.live .next')?.remove();
  };

  form.addEventListener('input', ({ target }) => {
    if (!(target instanceof HTMLElement) || target.id === 'api-key') return;
    const field = /** @type {Control | null} */ (target.closest('[data-parameter]'));
    const name = field?.dataset.parameter ?? '';
    if (name === 'If-Match') fillsETag = false;
    if (
      call.parameters.some(
        parameter => parameter.name === name && parameter.in === 'query' && !keepsCursor.has(name),
      )
    )
      forgetPage();
    update();
  });
  update();

  /** What the reader has to do first, and in which field. @returns {[text?: string, field?: HTMLElement | null]} */
  const obstacle = () => {
    const key = /** @type {HTMLInputElement | null} */ (form.querySelector('#api-key'));
    if (call.isSecured && key?.value.trim() === '')
      return ['This operation needs an API key. Enter it here: it stays in this tab.', key];
    const segments = [...controls].filter(field => call.path.includes(`{${field.dataset.parameter}}`));
    const missing = segments.find(field => textOf(field) === '');
    if (missing) return [`${missing.dataset.parameter} is missing`, missing];
    const dots = segments.find(field => /^\.\.?$/.test(textOf(field)));
    if (dots)
      return [`${dots.dataset.parameter} cannot be ${textOf(dots)}: in a URL this means another path.`, dots];
    const headers = call.parameters.filter(({ in: place }) => place === 'header');
    const unsendable = [key, ...headers.map(({ name }) => control(name))].find(
      field => field && /[^\x20-\x7e\xa0-\xff]/.test(textOf(field)),
    );
    if (unsendable)
      return ['This value contains a character that a header cannot contain: copy it again.', unsendable];
    const { demo } = document.documentElement.dataset;
    const isTest = key?.value.trim().startsWith('psk_test_');
    if (call.method === 'GET' || demo !== undefined || isTest || remembered('mayWrite') !== '') return [];
    remember('mayWrite', 'yes');
    return [
      `${location.host} is not the demo shop: this request changes its data. Press Send again to send it. This warning appears once.`,
    ];
  };

  const execute = async () => {
    if (send.disabled) return live.stop();
    const [text = '', field] = obstacle();
    message.textContent = text;
    field?.focus();
    if (text !== '') return;
    const request = currentRequest();
    if (!request) return;
    const focused = document.activeElement;
    send.disabled = true;
    try {
      const response = await live.show(fetchOf(request), { onNext: showNext });
      const etag = response?.headers.get('ETag');
      const subject = subjectOf(new URL(request.url.slice(base.length), base));
      // What a test key changed was undone.
      const isLasting = response?.ok && !response.headers.has('X-Test');
      if (etag && subject && isLasting) remember(`etag ${subject}`, etag);
      if (isLasting && call.method === 'DELETE') remember(`etag ${subject}`, '');
      update();
    } finally {
      send.disabled = false;
      // A browser takes the focus from a disabled button, and the button for the next page is replaced.
      if (focused instanceof HTMLButtonElement && document.activeElement === document.body) {
        const next = /** @type {HTMLElement | null} */ (document.querySelector('.live .next'));
        (focused === send ? send : (next ?? send)).focus({ preventScroll: true });
      }
    }
  };

  /** @param {URL} next the address of the next page */
  const showNext = next => {
    const cursor = control('cursor');
    if (!(cursor instanceof HTMLInputElement)) return;
    filledCursor = next.searchParams.get('cursor') ?? '';
    cursor.value = filledCursor;
    update();
    void execute();
  };

  send.addEventListener('click', execute);
  form.addEventListener('keydown', event => {
    const isField = event.target instanceof HTMLInputElement;
    // Enter also ends a composition, such as of a Japanese word.
    if (event.key !== 'Enter' || event.isComposing || !(isField || event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    void execute();
  });
}

/** The text of a control: that of several choices has commas. Half of a surrogate pair becomes U+FFFD, as in a query: a path cannot contain it. @param {Control} field */
function textOf(field) {
  if (!(field instanceof HTMLFieldSetElement)) return field.value.trim().toWellFormed();
  return [...field.querySelectorAll('input')]
    .filter(({ checked }) => checked)
    .map(({ value }) => value)
    .join(', ');
}

/** Sends a request. Its key is not part of anything that the page shows. @param {SampleRequest} request */
async function fetchOf({ method, url, headers, body }) {
  /** @type {Record<string, string>} */
  const sent = {};
  for (const [name, value] of headers) {
    if (typeof value === 'string') sent[name] = value;
    else sent[name] = value.variable === 'key' ? remembered('apiKey') : newIdempotencyKey();
  }
  return fetch(url, { method, headers: sent, ...(body !== undefined && { body }) });
}

/** Pages without HTTPS have no `randomUUID`. */
function newIdempotencyKey() {
  return crypto.getRandomValues(new Uint32Array(4)).join('-');
}

/** The path of the resource that a response describes; a list with one ID describes that pet. @param {URL} url */
function subjectOf({ pathname, searchParams }) {
  const ids = searchParams.getAll('id');
  return pathname === '/pets' && ids.length === 1 ? `/pets/${ids[0]}` : pathname;
}
