/** Returns whether a server responds to a GET with status 200. */
export async function isOk(url: string, signal: AbortSignal | null = null): Promise<boolean> {
  try {
    // A connection that stays open would delay the end of the server.
    const response = await fetch(url, { headers: { connection: 'close' }, signal });
    await response.arrayBuffer();
    return response.status === 200;
  } catch {
    return false;
  }
}
