/** Runs work, and lets the browser ask before the user leaves the page meanwhile: it would not be done, or not completely. */
export async function askingToLeave<T>(work: () => Promise<T>): Promise<T> {
  const ask = (event: BeforeUnloadEvent) => event.preventDefault();
  addEventListener('beforeunload', ask);
  try {
    return await work();
  } finally {
    removeEventListener('beforeunload', ask);
  }
}
