import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const root = join(import.meta.dirname, '../../..');

/** The text of a file of the project. */
export const readProjectFile = (file: string): string => readFileSync(join(root, file), 'utf8');

/** The default of PETSTORE_DRAIN_SECONDS. */
export const DRAIN_SECONDS = 5;
