// @ts-check
/** Shows the response to a request that a reader has sent. */
import { element } from './element.js';
import { highlighted } from './highlight.js';
import { indented } from './request.js';

/** The longest body that gets colours, in characters. */
const COLOURED = 100_000;
/** How many characters of a stream the page keeps. */
const STREAM_LENGTH = 50_000;

export class LiveResponse {
  #place;
  /** @type {AbortController | undefined} */
  #streaming;
  /** @type {ReturnType<typeof setInterval> | undefined} */
  #countdown;

  /** @param {HTMLElement} place the element that shows the response */
  constructor(place) {
    this.#place = place;
  }

  /** Ends a stream. */
  stop() {
    this.#streaming?.abort();
  }

  /**
   * Shows a response, and returns it; `undefined` if the service could not be reached. A stream is shown until it ends.
   *
   * @param {Promise<Response>} sent
   * @param {{ onNext: (next: URL) => void }} options
   */
  async show(sent, { onNext }) {
    const start = performance.now();
    clearInterval(this.#countdown);
    this.#place.setAttribute('aria-busy', 'true');
    try {
      const response = await sent;
      const milliseconds = Math.round(performance.now() - start);
      const { headers } = response;
      const status = element('span', { className: 'status live-status' }, String(response.status));
      status.dataset.status = String(response.status)[0];
      const time = element('span', { className: 'small-note' }, `${milliseconds} ms`);
      const title = element('p', { className: 'card-title' }, 'Response ', status, time);
      const next = nextOf(response);
      const code = element('code');
      const pre = element('pre', { tabIndex: 0 }, code);
      const type = headers.get('Content-Type') ?? '';
      const isStream = type.startsWith('text/event-stream');
      if (!isStream) code.innerHTML = coloured(await response.text(), type);
      this.#place.replaceChildren(
        title,
        this.#limits(headers),
        next ? element('button', { className: 'next', onclick: () => onNext(next) }, 'Next page') : '',
        element('div', { className: 'code' }, pre),
        headersOf(headers),
      );
      this.#place.scrollIntoView({ block: 'nearest' });
      if (isStream && response.body) await this.#stream(response.body, pre, code, title);
      return response;
    } catch (error) {
      const reason = error instanceof Error ? error.message : error;
      this.#place.replaceChildren(element('p', { className: 'notice' }, `The request failed: ${reason}`));
      return undefined;
    } finally {
      this.#place.removeAttribute('aria-busy');
    }
  }

  /**
   * Shows a stream until it ends, breaks, or the reader stops it.
   *
   * @param {ReadableStream<BufferSource>} body
   * @param {HTMLElement} pre
   * @param {HTMLElement} code
   * @param {HTMLElement} title
   */
  async #stream(body, pre, code, title) {
    const controller = new AbortController();
    this.#streaming = controller;
    const stop = element('button', { className: 'stop', onclick: () => controller.abort() }, 'Stop');
    title.append(stop);
    const show = new WritableStream({
      write(text) {
        code.textContent = `${code.textContent}${text}`.slice(-STREAM_LENGTH);
        pre.scrollTop = pre.scrollHeight;
      },
    });
    let end = 'ended';
    try {
      await body
        .pipeThrough(/** @type {ReadableWritablePair<string, BufferSource>} */ (new TextDecoderStream()))
        .pipeTo(show, { signal: controller.signal });
    } catch (error) {
      // What was received stays visible.
      if (!controller.signal.aborted) end = `ended: ${error instanceof Error ? error.message : error}`;
    }
    stop.replaceWith(element('span', { className: 'small-note' }, end));
  }

  /** The limits as a bar that counts down to the end of the window. @param {Headers} headers */
  #limits(headers) {
    const limit = Number(headers.get('X-RateLimit-Limit'));
    const remaining = Number(headers.get('X-RateLimit-Remaining'));
    if (!headers.has('X-RateLimit-Limit')) return '';
    // `t` counts from the response on, so it is right even when a clock is wrong.
    const [, seconds] = /;t=(\d+)/.exec(headers.get('RateLimit') ?? '') ?? [];
    const now = performance.now();
    const end = now + Number(seconds) * 1000;
    const retry = now + Number(headers.get('Retry-After')) * 1000;
    const amounts = { min: 0, max: limit, value: remaining, low: limit / 4 };
    const bar = element('meter', { ariaLabel: 'Remaining requests', ...amounts });
    const text = element('p', { className: 'small-note' });
    const update = () => {
      const wait = retry > performance.now() ? `; retry after ${duration(until(retry))}` : '';
      const rest = end > performance.now() ? `resets in ${duration(until(end))}` : 'reset since then';
      text.textContent = `${remaining.toLocaleString('en')} of ${limit.toLocaleString('en')} requests left${wait}; ${rest}`;
      if (Math.max(end, retry) <= performance.now()) clearInterval(this.#countdown);
    };
    update();
    this.#countdown = setInterval(update, 1000);
    return element('div', { className: 'limits' }, bar, text);
  }
}

/** The seconds until a time of `performance.now()`. @param {number} time */
function until(time) {
  return Math.ceil((time - performance.now()) / 1000);
}

/** @param {number} seconds */
function duration(seconds) {
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 120 ? `${minutes} min` : `${Math.ceil(minutes / 60)} h`;
}

/** The address of the next page. @param {Response} response */
function nextOf({ headers, url }) {
  const [, next] = /<([^>]+)>; rel="next"/.exec(headers.get('Link') ?? '') ?? [];
  return next ? new URL(next, url) : undefined;
}

/** @param {Headers} headers */
function headersOf(headers) {
  const rows = [...headers].map(([name, value]) =>
    element('div', {}, element('dt', {}, name), element('dd', {}, value)),
  );
  const list = element('dl', { className: 'headers' }, ...rows);
  return element('details', { className: 'live-headers' }, element('summary', {}, 'Headers'), list);
}

/** The HTML of a body. @param {string} text @param {string} type */
function coloured(text, type) {
  if (text === '') return 'No content';
  if (!type.startsWith('application/json')) return highlighted(text, 'text');
  const pretty = indented(text);
  return highlighted(pretty, pretty.length < COLOURED ? 'json' : 'text');
}
