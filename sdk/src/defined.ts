/** Returns the values that are not undefined: an option without a value has its default. */
export function defined<T extends object>(
  values: T | undefined = {} as T,
): { [Name in keyof T]: Exclude<T[Name], undefined> } {
  const entries = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as ReturnType<typeof defined<T>>;
}
