/** A URL as it may be shown. */
export function withoutPassword(url: string): string {
  const shown = new URL(url);
  if (shown.password !== '') shown.password = '***';
  shown.searchParams.delete('password');
  return shown.href;
}
