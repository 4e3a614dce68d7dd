// @ts-check
/**
 * The ways to an operation: the navigation, the search and the address.
 *
 * @typedef {import('./types.d.ts').ViewerSystem} ViewerSystem
 */
import { matches, operationsOf } from './contract.js';
import { elementId } from './operation-list.js';

/**
 * Opens the operation that the address names, now and after each change of the address.
 *
 * @param {ViewerSystem} viewer
 */
export function followAddress(viewer) {
  const follow = () => {
    const [tag, operationId] = namesIn(location.hash);
    if (!tag || !operationId) return;
    // An address also opens an operation that the search has hidden.
    if (!elementOf(tag, operationId)) clearSearch();
    viewer.layoutActions.show?.(['operations', tag, operationId], true);
    markCurrent(operationId);
    requestAnimationFrame(() => {
      const element = elementOf(tag, operationId);
      if (element) bringIntoView(element);
    });
  };
  addEventListener('hashchange', follow);
  // A link to the current operation does not change the address.
  document.addEventListener('click', event => {
    const link = /** @type {Element} */ (event.target).closest('a[href^="#/"]');
    if (link?.getAttribute('href') === location.hash) follow();
    if (link) closeMenu();
  });
  follow();
}

/**
 * The tag and the operation that a fragment names; neither when the fragment is malformed.
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
 * Marks only the entry of this operation in the navigation.
 *
 * @param {string} operationId
 */
export function markCurrent(operationId) {
  document.querySelector('a[data-operation][aria-current]')?.removeAttribute('aria-current');
  document
    .querySelector(`a[data-operation="${CSS.escape(operationId)}"]`)
    ?.setAttribute('aria-current', 'true');
}

/** How long an opened operation may continue to grow, in milliseconds: the viewer resolves its parts one by one. */
const SETTLING = 1_000;

/**
 * Scrolls to an element, and again when it grows, until the reader scrolls.
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
 * Filters the navigation and the operations by the text of the search field.
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
  // A browser restores the text of the field when the reader returns to the page.
  if (searchField.value) filter();
}

/** Lets a button open and close the navigation on narrow screens. */
export function menu() {
  const button = document.getElementById('menu');
  button?.addEventListener('click', () => {
    button.setAttribute('aria-expanded', String(button.getAttribute('aria-expanded') !== 'true'));
  });
}

function closeMenu() {
  document.getElementById('menu')?.setAttribute('aria-expanded', 'false');
}
