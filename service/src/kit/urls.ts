/** The part of a URL before its hosts, and the hosts: several are separated by commas, which `URL` does not accept. */
const HOSTS = /^([^:/?#]*:\/\/(?:[^/?#]*@)?)([^/?#]*)/;

/** The URL of each host of a text; `null` where it is invalid. */
export function urlsOf(text: string): (URL | null)[] {
  const hosts = HOSTS.exec(text)?.[2] ?? '';
  return hosts.split(',').map(host => URL.parse(text.replace(HOSTS, (_, before) => before + host.trim())));
}

/**
 * Returns a URL without passwords, for messages and logs: neither the user's nor those in parameters such as `password` and
 * `sslpassword`.
 */
export function withoutPassword(url: string): string {
  const hosts = HOSTS.exec(url)?.[2] ?? '';
  const [first] = hosts.split(',');
  const shown = new URL(url.replace(HOSTS, (_, before) => `${before}${first}`));
  if (shown.password !== '') shown.password = '***';
  for (const name of [...shown.searchParams.keys()]) {
    if (/password/i.test(name)) shown.searchParams.delete(name);
  }
  return hosts === first ? shown.href : shown.href.replace(HOSTS, (_, before) => `${before}${hosts}`);
}
