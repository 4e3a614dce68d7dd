import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { listenLocally } from './local-server.ts';

interface Manifest {
  name: string;
  version: string;
}

/** Starts a registry for npm with packages in a directory, until the test ends. Returns its URL. */
export async function startRegistry(
  t: TestContext,
  directory: string,
  isPart: (name: string) => boolean,
): Promise<string> {
  const versions = new Map<string, Record<string, object>>();
  const server = createServer(({ url = '' }, response) => {
    const path = decodeURIComponent(url.slice(1));
    const known = versions.get(path);
    if (path.endsWith('.tgz')) response.end(readFileSync(join(directory, path)));
    else if (known) response.end(JSON.stringify({ name: path, versions: known, 'dist-tags': {} }));
    else response.writeHead(404).end();
  });
  const registry = await listenLocally(t, server);
  for (const file of globSync('*.tgz', { cwd: directory })) {
    const text = execFileSync('tar', ['-xzOf', join(directory, file), 'package/package.json'], {
      encoding: 'utf8',
    });
    const manifest: Manifest = JSON.parse(text);
    const { name, version } = manifest;
    const dist = { tarball: `${registry}/${file}` };
    if (isPart(name)) versions.set(name, { ...versions.get(name), [version]: { ...manifest, dist } });
  }
  return registry;
}
