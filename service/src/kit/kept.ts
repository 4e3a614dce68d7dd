/**
 * Returns a function that makes a value at its first call, which all calls receive. If that fails, the next call makes it again: what
 * failed, such as a file that could not be opened, may work now.
 */
export function kept<Args extends unknown[], T>(
  make: (...args: Args) => Promise<T>,
): (...args: Args) => Promise<T> {
  let making: Promise<T> | undefined;
  return (...args) => {
    making ??= make(...args).catch(error => {
      making = undefined;
      throw error;
    });
    return making;
  };
}
