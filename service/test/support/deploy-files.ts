import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { readConfig } from '../../src/config.ts';

export const root = join(import.meta.dirname, '../../..');

/** The text of a file of the project. */
export const readProjectFile = (file: string): string => readFileSync(join(root, file), 'utf8');

/** The default of PETSTORE_DRAIN_SECONDS. */
export const DRAIN_SECONDS = readConfig({}).drainSeconds;

/** compose.yaml as Docker Compose reads it without a `.env` file. */
export const composeFile = () =>
  parse(readProjectFile('compose.yaml').replaceAll(/\$\{\w+:-([^}]*)\}/g, '$1'));
