import { globSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { installPacked } from './packed.ts';

type PackedClient = typeof import('../../../sdk/src/index.ts');

/** A directory in which nothing but the packed client is installed. */
interface InstalledClient {
  directory: string;
  /** The package. */
  tarball: string;
}

export function installClient(): InstalledClient {
  const directory = installPacked('client');
  return { directory, tarball: join(directory, globSync('*.tgz', { cwd: directory })[0]!) };
}

/** Imports the installed package, as a program in its directory would. */
export const importClient = (): Promise<PackedClient> => importModule('index.js');

export const importVerification = (): Promise<
  typeof import('../../../sdk/src/resources/verify-webhook.ts')
> => importModule('resources/verify-webhook.js');

/** Imports the functions of a group, such as `@petstore/client/orders`. */
export const importGroup = (name: 'orders'): Promise<typeof import('../../../sdk/src/resources/orders.ts')> =>
  importModule(`resources/${name}.js`);

function importModule(name: string) {
  const { directory } = installClient();
  return import(pathToFileURL(join(directory, 'node_modules/@petstore/client/dist', name)).href);
}
