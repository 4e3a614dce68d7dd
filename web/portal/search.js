// @ts-check
/**
 * The search over operations, parameters, fields, codes and the guide. Its library and its index are loaded when a reader opens it.
 *
 * @typedef {import('./types.d.ts').Found} Found
 */
import { element } from './element.js';

/** @type {ReturnType<typeof load> | undefined} */
let loading;

async function load() {
  const { SearchIndex, contextOf, partsOf } = await import('./search-index.js');
  const response = await fetch('/docs/search.json');
  if (!response.ok) throw new Error(`The search index cannot be loaded (status ${response.status})`);
  const index = new SearchIndex(await response.json());
  await index.load();
  /** @param {Found} found */
  const lineOf = ({ entry, matched }) =>
    partsOf(contextOf(entry.text, matched), matched).map((part, i) =>
      i % 2 === 1 ? element('mark', {}, part) : new Text(part),
    );
  return { index, lineOf };
}

const field = element('input', {
  type: 'search',
  placeholder: 'Ask in your own words, or type a name',
  ariaLabel: 'Search',
  autocomplete: 'off',
  spellcheck: false,
});
const status = element('p', { className: 'small-note', role: 'status' });
const results = element('ul');
const dialog = element('dialog', { className: 'search', ariaLabel: 'Search' }, field, status, results);
document.body.append(dialog);

dialog.addEventListener('click', ({ target }) => {
  if (target === dialog) dialog.close();
});
results.addEventListener('click', () => dialog.close());

/** Whether Enter was pressed before the results of the text were there. */
let isEntered = false;
field.addEventListener('input', () => {
  isEntered = false;
  void update();
});
dialog.addEventListener('close', () => {
  isEntered = false;
});
dialog.addEventListener('keydown', event => {
  // Arrows and Enter choose a word of a composition, such as of a Japanese one.
  if (event.isComposing) return;
  const links = [...results.querySelectorAll('a')];
  const current = links.indexOf(/** @type {HTMLAnchorElement} */ (document.activeElement));
  if (event.key === 'ArrowDown') links[Math.min(current + 1, links.length - 1)]?.focus();
  else if (event.key === 'ArrowUp') (current > 0 ? links[current - 1] : field)?.focus();
  else if (event.key === 'Enter' && document.activeElement === field) {
    isEntered = links[0] === undefined;
    links[0]?.click();
  } else return;
  event.preventDefault();
});

/** What the reader types at once is in the field, and is searched when the index is loaded. */
export function showSearch() {
  if (!dialog.open) dialog.showModal();
  field.select();
  void update();
}

async function update() {
  loading ??= load();
  let loaded;
  try {
    loaded = await loading;
  } catch (error) {
    loading = undefined;
    status.textContent = String(error);
    return;
  }
  const { index, lineOf } = loaded;
  const question = field.value.trim();
  const found = index.find(question);
  status.textContent = question === '' ? '' : found.length === 1 ? '1 result' : `${found.length} results`;
  results.replaceChildren(
    ...found.slice(0, 20).map(one => {
      const { url, title, page, kind } = one.entry;
      const link = element(
        'a',
        { href: url },
        element('span', { className: 'kind' }, kind),
        element('strong', {}, title),
        element('span', { className: 'small-note' }, page),
        element('span', { className: 'context small-note' }, ...lineOf(one)),
      );
      return element('li', {}, link);
    }),
  );
  if (!isEntered) return;
  isEntered = false;
  results.querySelector('a')?.click();
}
