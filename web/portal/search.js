// @ts-check
/**
 * The search over operations, parameters, fields, codes and the guide. Its library and its index are loaded when a reader opens it.
 *
 * @typedef {import('./types.d.ts').Entry} Entry
 * @typedef {import('minisearch').default<Entry>} Index
 */
import { element } from './element.js';

/** @type {Promise<Index> | undefined} */
let loading;

async function load() {
  const { default: MiniSearch } = await import('minisearch');
  const response = await fetch('/docs/search.json');
  if (!response.ok) throw new Error(`The search index cannot be loaded (status ${response.status})`);
  /** @type {Entry[]} */
  const entries = await response.json();
  const index = new MiniSearch({
    idField: 'id',
    fields: ['title', 'page', 'kind', 'text'],
    storeFields: ['url', 'title', 'page', 'kind'],
    // A camel-case name is found by each of its words.
    tokenize: text =>
      text.split(/[^\p{L}\p{N}]+|(?<=\p{Ll})(?=\p{Lu})/u).concat(text.match(/[a-z]+[A-Z_]\w+/g) ?? []),
    searchOptions: {
      prefix: true,
      fuzzy: term => (term.length > 4 ? 0.2 : false),
      combineWith: 'AND',
      boost: { title: 4, page: 2 },
    },
  });
  await index.addAllAsync(
    entries.map((entry, id) => ({ ...entry, id })),
    { chunkSize: 100 },
  );
  return /** @type {Index} */ (/** @type {unknown} */ (index));
}

const field = element('input', {
  type: 'search',
  placeholder: 'Search operations, parameters, fields, codes and the guide',
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

field.addEventListener('input', update);
dialog.addEventListener('keydown', event => {
  const links = [...results.querySelectorAll('a')];
  const current = links.indexOf(/** @type {HTMLAnchorElement} */ (document.activeElement));
  if (event.key === 'ArrowDown') links[Math.min(current + 1, links.length - 1)]?.focus();
  else if (event.key === 'ArrowUp') (current > 0 ? links[current - 1] : field)?.focus();
  else if (event.key === 'Enter' && document.activeElement === field) links[0]?.click();
  else return;
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
  /** @type {Index} */
  let index;
  try {
    index = await loading;
  } catch (error) {
    loading = undefined;
    status.textContent = String(error);
    return;
  }
  const text = field.value.trim();
  const all = index.search(text);
  // A question rarely has all of its words in one place.
  const found = all.length > 0 ? all : index.search(text, { combineWith: 'OR' });
  status.textContent = text === '' ? '' : found.length === 1 ? '1 result' : `${found.length} results`;
  results.replaceChildren(...found.slice(0, 20).map(resultOf));
}

/** @param {import('minisearch').SearchResult} result */
function resultOf({ url, title, page, kind }) {
  const link = element(
    'a',
    { href: url },
    element('span', { className: 'kind' }, kind),
    element('strong', {}, title),
    element('span', { className: 'small-note' }, page),
  );
  return element('li', {}, link);
}
