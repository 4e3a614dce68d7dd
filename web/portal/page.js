// @ts-check
/** What every page does: theme, language of samples, copying, search, and the form of an operation. */
import { useKeyField } from './key.js';
import { showSearch } from './search.js';

const root = document.documentElement;

/** Stores a choice for all pages and tabs. @param {string} name @param {string} value */
function choose(name, value) {
  root.dataset[name] = value;
  try {
    localStorage.setItem(`petstore.${name}`, value);
  } catch {
    // The choice lasts as long as the page.
  }
}

const theme = /** @type {HTMLSelectElement | null} */ (document.getElementById('theme'));
if (theme) {
  theme.value = root.dataset.theme ?? '';
  theme.addEventListener('change', () => choose('theme', theme.value));
}

// Another tab may change the theme.
addEventListener('storage', ({ key, newValue }) => {
  if (key !== 'petstore.theme') return;
  root.dataset.theme = newValue ?? '';
  if (theme) theme.value = newValue ?? '';
});

const radios = /** @type {NodeListOf<HTMLInputElement>} */ (document.querySelectorAll('.tabs input'));
/** A group without the language keeps the one that it shows. */
const checkChosen = () => {
  for (const radio of radios) if (radio.value === root.dataset.language) radio.checked = true;
};
checkChosen();
for (const radio of radios) {
  radio.addEventListener('change', () => {
    choose('language', radio.value);
    checkChosen();
  });
}

/** Copies a text when a button is clicked, and reports it on the button. @param {HTMLElement} button @param {() => string | Promise<string>} textOf */
function copyOnClick(button, textOf) {
  const label = button.textContent;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  button.addEventListener('click', async () => {
    let text;
    try {
      text = await textOf();
      await navigator.clipboard.writeText(text);
      button.textContent = 'Copied';
    } catch {
      button.textContent = text === undefined ? 'The page could not be read' : 'Copying is not allowed here';
    }
    clearTimeout(timer);
    timer = setTimeout(() => {
      button.textContent = label;
    }, 2000);
  });
}

for (const button of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll('.copy')))
  copyOnClick(button, () => button.closest('.code')?.querySelector('code')?.textContent ?? '');

const copyMarkdown = /** @type {HTMLElement | null} */ (document.querySelector('.page-tools button'));
if (copyMarkdown)
  copyOnClick(copyMarkdown, async () => {
    const response = await fetch(`${location.pathname}.md`);
    if (!response.ok) throw new Error(`Status ${response.status}`);
    return response.text();
  });

const copyCommand = /** @type {HTMLElement | null} */ (document.querySelector('.copy-command'));
if (copyCommand)
  copyOnClick(
    copyCommand,
    () => document.querySelector('.samples > [data-language=curl] code')?.textContent ?? '',
  );

// A page can be reached at other origins than the one in its samples. Only that one can need a path.
const { base: written = '' } = root.dataset;
const base = written.startsWith(`${location.origin}/`) ? written : location.origin;
if (base !== written) {
  for (const code of document.querySelectorAll('pre code')) {
    const texts = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const { currentNode } = texts;
      currentNode.nodeValue = currentNode.nodeValue?.replaceAll(written, base) ?? '';
    }
  }
}

useKeyField();

// `scrollIntoView` would also scroll the page, past its heading.
const navigation = /** @type {HTMLElement} */ (document.getElementById('navigation'));
const current = navigation.querySelector('[aria-current=page]');
if (current) {
  const { top } = current.getBoundingClientRect();
  navigation.scrollTop += top - navigation.getBoundingClientRect().top - navigation.clientHeight / 2;
}

// The list of headings marks the section at the top of the window.
const headings = /** @type {NodeListOf<HTMLAnchorElement>} */ (
  document.querySelectorAll('.document > .on-page a')
);
const seen = new IntersectionObserver(
  entries => {
    const entry = entries.find(({ isIntersecting }) => isIntersecting);
    if (!entry) return;
    for (const link of headings) {
      if (link.hash === `#${entry.target.id}`) link.setAttribute('aria-current', 'true');
      else link.removeAttribute('aria-current');
    }
  },
  { rootMargin: '0px 0px -70% 0px' },
);
for (const { hash } of headings) {
  const heading = document.getElementById(hash.slice(1));
  if (heading) seen.observe(heading);
}

document.getElementById('search')?.addEventListener('click', showSearch);
addEventListener('keydown', event => {
  const { key, code, ctrlKey, metaKey, altKey, target } = event;
  // A dialog that has just closed keeps the focus until the browser draws the page.
  const isTyping =
    target instanceof HTMLElement &&
    target.matches('input:not([type="checkbox"], [type="radio"]), textarea, select') &&
    target.checkVisibility();
  // With a layout whose letters are not Latin the place of the key counts.
  const isK = key.toLowerCase() === 'k' || (code === 'KeyK' && !/\p{Script=Latin}/u.test(key));
  const isSlash = key === '/' && !ctrlKey && !metaKey && !altKey && !isTyping;
  if (!isSlash && !(isK && (ctrlKey || metaKey))) return;
  event.preventDefault();
  showSearch();
});

const form = document.querySelector('[data-call]');
if (form instanceof HTMLElement) {
  const { useForm } = await import('./try-it.js');
  useForm(form, base);
}
document.body.dataset.ready = '';
