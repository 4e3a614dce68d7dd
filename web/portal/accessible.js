// @ts-check

/** Lets the skip link move the focus past the navigation: without this it only scrolls. */
export function skipToContent() {
  document.querySelector('.skip-link')?.addEventListener('click', event => {
    event.preventDefault();
    document.getElementById('content')?.focus();
  });
}

/**
 * Names the controls that the viewer leaves unnamed, and lets the keyboard focus blocks of code, which can scroll.
 *
 * @param {HTMLElement} reference
 */
export function nameControls(reference) {
  const nameAll = () => {
    for (const control of reference.querySelectorAll(unnamed))
      control.setAttribute('aria-label', nameOf(control));
    for (const text of reference.querySelectorAll('pre:not([tabindex])')) text.setAttribute('tabindex', '0');
  };
  nameAll();
  new MutationObserver(nameAll).observe(reference, { childList: true, subtree: true });
}

const unnamed = ['select', 'textarea', 'input'].map(name => `${name}:not([aria-label])`).join(', ');

/** @param {Element} control */
function nameOf(control) {
  const row = /** @type {HTMLElement | null} */ (control.closest('[data-param-name]'));
  if (row) return row.dataset.paramName ?? 'Parameter';
  return control instanceof HTMLSelectElement ? 'Media type' : 'Request body';
}
