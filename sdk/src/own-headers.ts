import { VERSION } from './version.ts';

const { node = '' } = (globalThis as { process?: { versions?: { node?: string } } }).process?.versions ?? {};

/**
 * The headers of every request. A page that loads the modules without a bundler has no version of Node.js, so it sends no `User-Agent`:
 * some browsers do not allow it, and others ask the service first.
 */
export const ownHeaders: Record<string, string | undefined> = {
  'API-Version': '1',
  'User-Agent': node && `petstore-client/${VERSION} (node ${parseInt(node, 10)})`,
};
