/** Returns a thrown value as an error, because a library may throw anything. */
export function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

/** The message of a thrown value. When a host has several addresses, the error for all of them has no message of its own. */
export function messageOf(thrown: unknown): string {
  const errors: unknown[] = thrown instanceof AggregateError ? thrown.errors : [thrown];
  return errors
    .map(asError)
    .map(({ name, message }) => message || name)
    .join('; ');
}

/** The code of an error of Node.js or of a driver, such as `ENOENT`; `undefined` if it has none. */
export function codeOf(thrown: unknown): string | undefined {
  if (!(thrown instanceof Error) || !('code' in thrown)) return undefined;
  return typeof thrown.code === 'string' ? thrown.code : undefined;
}
