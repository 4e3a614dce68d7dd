// @ts-check
/**
 * The reader's API key. It is kept for the session of this tab and nowhere else, and is sent in one header to the
 * service that served the page.
 */
const STORED = 'petstore.apiKey';

/** Keeps what is typed into the field, and fills it again after a reload. */
export function keepKey() {
  const field = /** @type {HTMLInputElement} */ (document.getElementById('api-key'));
  field.value = sessionStorage.getItem(STORED) ?? '';
  field.addEventListener('input', () => {
    const key = field.value.trim();
    if (key) sessionStorage.setItem(STORED, key);
    else sessionStorage.removeItem(STORED);
  });
  document.getElementById('api-key-forget')?.addEventListener('click', () => {
    sessionStorage.removeItem(STORED);
    field.value = '';
    field.focus();
  });
}

/**
 * The request with the key, as a copy: the viewer shows and keeps the one without.
 *
 * @param {import('./types.d.ts').ViewerRequest} request
 */
export function withKey(request) {
  const key = sessionStorage.getItem(STORED);
  if (!key || new URL(request.url, location.href).origin !== location.origin) return request;
  return { ...request, headers: { ...request.headers, 'X-API-Key': key } };
}
