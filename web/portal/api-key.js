// @ts-check
/**
 * The reader's API key. It is kept for the session of this tab and nowhere else, and is sent in one header to the
 * service that served the page.
 */
const STORED = 'petstore.apiKey';

let key = '';

/** Keeps what is typed into the field, and fills it again after a reload. */
export function keepKey() {
  const field = /** @type {HTMLInputElement} */ (document.getElementById('api-key'));
  key = inStorage(storage => storage.getItem(STORED)) ?? '';
  field.value = key;
  field.addEventListener('input', () => keep(field.value.trim()));
  document.getElementById('api-key-forget')?.addEventListener('click', () => {
    keep('');
    field.value = '';
    field.focus();
  });
}

/** @param {string} entered */
function keep(entered) {
  key = entered;
  inStorage(storage => (key ? storage.setItem(STORED, key) : storage.removeItem(STORED)));
}

/**
 * A browser may forbid storage; then the key lasts as long as the page.
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
 * The request with the key, as a copy: the viewer shows and keeps the one without.
 *
 * @param {import('./types.d.ts').ViewerRequest} request
 */
export function withKey(request) {
  if (!key || new URL(request.url, location.href).origin !== location.origin) return request;
  return { ...request, headers: { ...request.headers, 'X-API-Key': key } };
}
