// @ts-check
/**
 * The reader's API key. Only the session storage of this tab stores it, and it is sent in one header to the service
 * that served the page.
 */
const STORED = 'petstore.apiKey';

let key = '';

/** Stores the text of the field, and restores it after a reload. */
export function useStoredKey() {
  const field = /** @type {HTMLInputElement} */ (document.getElementById('api-key'));
  key = inStorage(storage => storage.getItem(STORED)) ?? '';
  field.value = key;
  field.addEventListener('input', () => store(field.value.trim()));
  document.getElementById('api-key-forget')?.addEventListener('click', () => {
    store('');
    field.value = '';
    field.focus();
  });
}

/** @param {string} entered */
function store(entered) {
  key = entered;
  inStorage(storage => (key ? storage.setItem(STORED, key) : storage.removeItem(STORED)));
}

/**
 * Uses the session storage. A browser may forbid it; then the key lasts as long as the page.
 *
 * @template T
 * @param {(storage: Storage) => T} use
 */
function inStorage(use) {
  try {
    return use(sessionStorage);
  } catch {
    return undefined;
  }
}

/**
 * A copy of the request with the key added: the viewer shows and stores the original, which has no key.
 *
 * @param {import('./types.d.ts').ViewerRequest} request
 */
export function withKey(request) {
  if (!key || new URL(request.url, location.href).origin !== location.origin) return request;
  return { ...request, headers: { ...request.headers, 'X-API-Key': key } };
}
