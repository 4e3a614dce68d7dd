import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

const root = join(import.meta.dirname, '../../..');

export const contractFile = join(root, 'openapi.yaml');

/** The directory for files that are derived from files of the repository. It can be deleted at any time. */
const cache = join(root, 'node_modules/.cache/petstore');

/**
 * The contents of `openapi.yaml`. Parsing the file takes half a second of processor time, and nearly every test file
 * needs it, so the contents are stored as JSON under a hash of the YAML text.
 */
export function readContract<Document>(): Document {
  const text = readFileSync(contractFile, 'utf8');
  const hash = createHash('sha256').update(text).digest('hex');
  const file = join(cache, `openapi-${hash.slice(0, 16)}.json`);
  const stored = readIfPresent(file);
  if (stored !== undefined) return JSON.parse(stored);
  const document = parse(text);
  mkdirSync(cache, { recursive: true });
  // Written under another name first, because other test processes may read the file at this moment.
  const written = `${file}.${process.pid}`;
  writeFileSync(written, JSON.stringify(document));
  renameSync(written, file);
  return document;
}

function readIfPresent(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return undefined;
  }
}
