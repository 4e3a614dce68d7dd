/** Returns a URL without passwords, for messages and logs. */
export function withoutPassword(url: string): string {
  const shown = new URL(url);
  if (shown.password !== '') shown.password = '***';
  shown.searchParams.delete('password');
  return shown.href;
}
