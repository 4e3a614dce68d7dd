import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

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
  close: () => void;
}

/** Serves empty pages from an origin of its own, as the server of a web shop does. */
export async function startPageServer(): Promise<PageServer> {
  const modules = new Map<string, string>();
  const server = createServer(({ url = '' }, response) => {
    const code = modules.get(url);
    const type = code === undefined ? 'text/html' : 'text/javascript';
    const body =
      code ?? `<!doctype html><title>Shop</title><link rel="icon" href="data:,"><script>${script}</script>`;
    response.writeHead(200, { 'content-type': type, connection: 'close' }).end(body);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    addModule: (path, code) => modules.set(path, code),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
