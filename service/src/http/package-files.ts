import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { BUILD_COMMAND } from '../console/console-files.ts';
import { ApiError } from '../contract/errors.ts';
import { Content } from '../kit/content.ts';
import { codeOf } from '../kit/thrown.ts';
import { isNotModified } from '../routes/conditional.ts';
import type { ServedPath } from './add-path.ts';
import { pageAt } from './page.ts';
import { sendWhole } from './send.ts';

/** Where `scripts/build-packages.mjs` puts the packages, with their names and hashes in `index.json`. */
const built = join(import.meta.dirname, '../../../packages');

const INDEX = 'index.json';

/** The files by the paths under which the service offers them: `npm install http://…/packages/client.tgz`. */
const files = {
  '/packages': { file: INDEX, type: 'application/json' },
  '/packages/client.tgz': { file: 'client.tgz', type: 'application/gzip' },
  '/packages/command.tgz': { file: 'command.tgz', type: 'application/gzip' },
} as const;

/** The packages of the client and of the command, in the version of this service, for everyone who can reach it. */
export function packageFiles(): ServedPath[] {
  return Object.entries(files).map(([path, { file, type }]) => {
    const read = contentReader(join(built, file), type);
    return pageAt(path, async (request, reply) => sendPackage(request, reply, await read()));
  });
}

/**
 * Returns a function that reads a file again only after it was built again. All requests share its content: otherwise each client that
 * does not read its response would need memory of its own.
 */
export function contentReader(path: string, type: string): () => Promise<Content> {
  let known: { builtAt: number; content: Promise<Content> } | undefined;
  return async () => {
    const builtAt = await builtAtOf(path);
    if (known?.builtAt === builtAt) return known.content;
    const content = readFile(path).then(bytes => new Content(type, bytes));
    known = { builtAt, content };
    // The next request tries again.
    content.catch(() => {
      if (known?.content === content) known = undefined;
    });
    return content;
  };
}

/** When a file was built, in milliseconds since the Unix epoch. */
async function builtAtOf(path: string): Promise<number> {
  try {
    return (await stat(path)).mtimeMs;
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
    throw new ApiError(
      'route_not_found',
      `The packages of this service are not built: run \`${BUILD_COMMAND}\` in its directory`,
    );
  }
}

/** A package is compressed, and npm compares the hash of exactly these bytes: it is sent without an encoding. */
async function sendPackage(request: FastifyRequest, reply: FastifyReply, content: Content): Promise<void> {
  const etag = content.etag('identity');
  const headers = { 'cache-control': 'no-cache', etag, 'content-type': content.type };
  if (isNotModified(request.headers, etag)) return sendWhole(request, reply, 304, headers);
  return sendWhole(request, reply, 200, headers, await content.encoded('identity'));
}
