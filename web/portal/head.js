// @ts-check
// A classic script in the head, which runs before the browser paints the page: theme, language, and links to the portal's
// earlier addresses.
{
  const root = document.documentElement;
  /** @param {string} name */
  const stored = name => {
    try {
      return localStorage.getItem(`petstore.${name}`) ?? '';
    } catch {
      // A browser may forbid storage; then the page has its defaults.
      return '';
    }
  };
  root.dataset.theme = stored('theme');
  root.dataset.language = stored('language') || 'curl';

  // The earlier portal had all operations on one page: /docs#/Animals/listPets
  const [, operationId] = /^#\/[^/]+\/(\w+)$/.exec(location.hash) ?? [];
  if (operationId && location.pathname === '/docs') location.replace(`/docs/operations/${operationId}`);
  // It also had one page for the guide: /docs/guide#limits
  if (location.hash && location.pathname === '/docs/guide') {
    /** @type {Record<string, string>} */
    const renamed = { idempotency: 'safe-retries', deprecation: 'versions-and-deprecation' };
    const anchor = location.hash.slice(1);
    if (/^[a-z-]+$/.test(anchor) && anchor !== 'content')
      location.replace(`/docs/guide/${renamed[anchor] ?? anchor}`);
  }
}
