// @ts-check
// The light or dark theme. A classic script in the head, which runs before the browser paints the page.
{
  const STORED = 'petstore.theme';
  const root = document.documentElement;
  const system = matchMedia('(prefers-color-scheme: dark)');

  let chosen = '';
  try {
    chosen = localStorage.getItem(STORED) ?? '';
  } catch {
    // A browser may forbid storage; then the choice lasts as long as the page.
  }

  /** The theme that the reader chose, or else the theme of the system. */
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
  // Another tab of the portal may change the theme.
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
        // The choice lasts as long as the page.
      }
    });
  });
}
