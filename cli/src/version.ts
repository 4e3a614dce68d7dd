import { readFileSync } from 'node:fs';

const read = (manifest: string): { version?: string } =>
  JSON.parse(readFileSync(new URL(manifest, import.meta.url), 'utf8'));

/** The version of the package; in a clone that of the project, whose packages get it when they are built. */
export const version = (read('../package.json').version ?? read('../../package.json').version)!;
