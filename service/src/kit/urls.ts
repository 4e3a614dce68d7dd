/**
 * Returns a URL without passwords, for messages and logs: neither the user's nor those in parameters such as `password` and
 * `sslpassword`.
 */
export function withoutPassword(url: string): string {
  const shown = new URL(url);
  if (shown.password !== '') shown.password = '***';
  for (const name of [...shown.searchParams.keys()]) {
    if (/password/i.test(name)) shown.searchParams.delete(name);
  }
  return shown.href;
}
