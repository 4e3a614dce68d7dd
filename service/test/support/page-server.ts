import { createServer } from 'node:http';
import { listenLocally } from './local-server.ts';

/** Runs in every page. `call` reports the parts of a response that the browser lets the page read, or that it blocks it. */
const script = `
  window.call = async (url, options) => {
    try {
      const response = await fetch(url, options);
      const text = await response.text();
      return { status: response.status, headers: Object.fromEntries(response.headers), text };
    } catch (error) {
      return { blocked: error.message };
    }
  };`;

export interface PageServer {
  origin: string;
  addModule: (path: string, code: string) => void;
}

/** Serves empty pages from an origin of its own, as the server of a web shop does, until the test ends. */
export async function startPageServer(t: { after(close: () => void): void }): Promise<PageServer> {
  const modules = new Map<string, string>();
  const server = createServer(({ url = '' }, response) => {
    const code = modules.get(url);
    const type = code === undefined ? 'text/html' : 'text/javascript';
    const body =
      code ?? `<!doctype html><title>Shop</title><link rel="icon" href="data:,"><script>${script}</script>`;
    response.writeHead(200, { 'content-type': type, connection: 'close' }).end(body);
  });
  return {
    origin: await listenLocally(t, server),
    addModule: (path, code) => modules.set(path, code),
  };
}
