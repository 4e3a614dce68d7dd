// @ts-check
// Light or dark. A classic script in the head: it runs before anything is painted.
{
  const STORED = 'petstore.theme';
  const root = document.documentElement;
  const system = matchMedia('(prefers-color-scheme: dark)');

  /** What the reader chose, or else what the system says. */
  const current = () => localStorage.getItem(STORED) ?? (system.matches ? 'dark' : 'light');

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
  addEventListener('storage', apply);
  document.addEventListener('DOMContentLoaded', () => {
    apply();
    document.getElementById('theme')?.addEventListener('click', () => {
      localStorage.setItem(STORED, current() === 'dark' ? 'light' : 'dark');
      apply();
    });
  });
}
