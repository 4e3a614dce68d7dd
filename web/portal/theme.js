// @ts-check
// Light or dark. A classic script in the head: it runs before anything is painted.
{
  const STORED = 'petstore.theme';
  const root = document.documentElement;
  const system = matchMedia('(prefers-color-scheme: dark)');

  let chosen = '';
  try {
    chosen = localStorage.getItem(STORED) ?? '';
  } catch {
    // A browser may forbid storage; then a choice lasts as long as the page.
  }

  /** What the reader chose, or else what the system says. */
  const current = () => chosen || (system.matches ? 'dark' : 'light');

  const apply = () => {
    const theme = current();
    root.dataset.theme = theme;
    const toggle = document.getElementById('theme');
    if (!toggle) return;
    toggle.textContent = theme === 'dark' ? 'Light' : 'Dark';
    toggle.setAttribute('aria-label', `Switch to the ${theme === 'dark' ? 'light' : 'dark'} theme`);
  };

  apply();
  system.addEventListener('change', apply);
  // Another tab of the portal may have changed it.
  addEventListener('storage', ({ key, newValue }) => {
    if (key === STORED) chosen = newValue ?? '';
    apply();
  });
  document.addEventListener('DOMContentLoaded', () => {
    apply();
    document.getElementById('theme')?.addEventListener('click', () => {
      chosen = current() === 'dark' ? 'light' : 'dark';
      apply();
      try {
        localStorage.setItem(STORED, chosen);
      } catch {
        // As above.
      }
    });
  });
}
