/** A URL without its password, which is the user's or a parameter such as `password` and `sslpassword`, to be shown. */
export function withoutPassword(url: string): string {
  const shown = new URL(url);
  if (shown.password !== '') shown.password = '***';
  for (const name of [...shown.searchParams.keys()]) {
    if (/password/i.test(name)) shown.searchParams.delete(name);
  }
  return shown.href;
}
