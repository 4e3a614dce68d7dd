import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { readConfig } from '../../src/config.ts';

export const root = join(import.meta.dirname, '../../..');

export const readProjectFile = (file: string): string => readFileSync(join(root, file), 'utf8');

export const DRAIN_SECONDS = readConfig({}).drainSeconds;

/** compose.yaml as Docker Compose reads it without a `.env` file. */
export const composeFile = () =>
  parse(readProjectFile('compose.yaml').replaceAll(/\$\{\w+:-([^}]*)\}/g, '$1'));
