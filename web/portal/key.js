// @ts-check
/** Values that only this tab stores, and only until it is closed: the reader's API key, and what was read. */

/** Values that the browser does not store: it may forbid storage, or have no space left. @type {Map<string, string>} */
const unstored = new Map();

/** @param {string} name */
export function remembered(name) {
  try {
    return unstored.get(name) ?? sessionStorage.getItem(`petstore.${name}`) ?? '';
  } catch {
    return '';
  }
}

/** An empty text forgets the value. @param {string} name @param {string} value */
export function remember(name, value) {
  unstored.delete(name);
  try {
    if (value === '') sessionStorage.removeItem(`petstore.${name}`);
    else sessionStorage.setItem(`petstore.${name}`, value);
  } catch {
    unstored.set(name, value);
  }
}

/** Connects the field for the key, which other pages of this tab fill as well. */
export function useKeyField() {
  const field = /** @type {HTMLInputElement | null} */ (document.getElementById('api-key'));
  if (!field) return;
  field.value = remembered('apiKey');
  field.addEventListener('input', () => remember('apiKey', field.value.trim()));
  document.getElementById('api-key-forget')?.addEventListener('click', () => {
    remember('apiKey', '');
    field.value = '';
    field.focus();
  });
}
