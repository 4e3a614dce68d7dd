// @ts-check
/**
 * Finding an operation: by the navigation, by search, by the address.
 *
 * @typedef {import('./types.d.ts').ViewerSystem} ViewerSystem
 */
import { matches, operationsOf } from './contract.js';
import { elementId } from './operation-list.js';

/**
 * Opens what the address names, now and whenever it changes.
 *
 * @param {ViewerSystem} viewer
 */
export function followAddress(viewer) {
  const follow = () => {
    const [tag, operationId] = namesIn(location.hash);
    if (!tag || !operationId) return;
    // What a search has hidden is found by its address all the same.
    if (!elementOf(tag, operationId)) clearSearch();
    viewer.layoutActions.show?.(['operations', tag, operationId], true);
    markCurrent(operationId);
    requestAnimationFrame(() => {
      const element = elementOf(tag, operationId);
      if (element) bringIntoView(element);
    });
  };
  addEventListener('hashchange', follow);
  // A link to where one is already changes nothing in the address.
  document.addEventListener('click', event => {
    const link = /** @type {Element} */ (event.target).closest('a[href^="#/"]');
    if (link?.getAttribute('href') === location.hash) follow();
    if (link) closeMenu();
  });
  follow();
}

/**
 * The tag and the operation that a fragment names. One that is no well-formed text names nothing.
 *
 * @param {string} fragment
 */
function namesIn(fragment) {
  try {
    return fragment.slice(2).split('/').map(decodeURIComponent);
  } catch {
    return [];
  }
}

/** @param {string} tag @param {string} operationId */
function elementOf(tag, operationId) {
  return document.getElementById(elementId(tag, operationId));
}

/**
 * Marks the entry of an operation in the navigation, and no other.
 *
 * @param {string} operationId
 */
export function markCurrent(operationId) {
  document.querySelector('a[data-operation][aria-current]')?.removeAttribute('aria-current');
  document
    .querySelector(`a[data-operation="${CSS.escape(operationId)}"]`)
    ?.setAttribute('aria-current', 'true');
}

/** How long an operation that was opened may go on growing, in milliseconds: its parts are resolved one by one. */
const SETTLING = 1_000;

/**
 * Scrolls to an element and holds it there while it grows, unless the reader scrolls meanwhile.
 *
 * @param {HTMLElement} element
 */
function bringIntoView(element) {
  const scroll = () => element.scrollIntoView({ block: 'start' });
  const growing = new ResizeObserver(scroll);
  growing.observe(element);
  const settled = new AbortController();
  const settle = () => {
    growing.disconnect();
    settled.abort();
  };
  for (const sign of ['wheel', 'touchstart', 'keydown', 'pointerdown']) {
    addEventListener(sign, settle, { signal: settled.signal, passive: true });
  }
  setTimeout(settle, SETTLING);
  element.querySelector('button')?.focus({ preventScroll: true });
}

/** @type {HTMLInputElement} */
const searchField = /** @type {any} */ (globalThis.document?.getElementById('search'));

function clearSearch() {
  searchField.value = '';
  searchField.dispatchEvent(new Event('input'));
}

/**
 * Filters the navigation and the operations by what is typed.
 *
 * @param {ViewerSystem} viewer
 * @param {import('./types.d.ts').Contract} contract
 */
export function search(viewer, contract) {
  const operations = operationsOf(contract);
  const entries = new Map(
    [.../** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll('a[data-operation]'))].map(link => [
      link.dataset.operation,
      /** @type {HTMLElement} */ (link.parentElement),
    ]),
  );
  const sections = /** @type {NodeListOf<HTMLElement>} */ (
    document.querySelectorAll('#operations-menu [data-group], #operations-menu [data-tag]')
  );
  const status = /** @type {HTMLElement} */ (document.getElementById('search-status'));

  const filter = () => {
    const phrase = searchField.value.trim();
    let found = 0;
    for (const listed of operations) {
      const hidden = phrase !== '' && !matches(listed, phrase);
      const entry = entries.get(listed.operation.operationId);
      if (entry) entry.hidden = hidden;
      if (!hidden) found++;
    }
    for (const section of sections) section.hidden = !section.querySelector('li:not([hidden])');
    status.textContent = phrase === '' ? '' : found === 1 ? '1 operation found' : `${found} operations found`;
    status.classList.toggle('visually-hidden', phrase === '');
    document.body.classList.toggle('nothing-found', found === 0);
    viewer.layoutActions.updateFilter?.(phrase === '' ? false : phrase);
  };
  searchField.addEventListener('input', filter);
  // A browser fills the field again after a step back.
  if (searchField.value) filter();
}

/** On narrow screens the navigation is behind a button. */
export function menu() {
  const button = document.getElementById('menu');
  button?.addEventListener('click', () => {
    button.setAttribute('aria-expanded', String(button.getAttribute('aria-expanded') !== 'true'));
  });
}

function closeMenu() {
  document.getElementById('menu')?.setAttribute('aria-expanded', 'false');
}
