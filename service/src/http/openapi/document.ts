import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The published contract. A check fails when it is not what the route definitions say. */
const CONTRACT_FILE = join(import.meta.dirname, '../../../../openapi.yaml');

/** The contract as it is served, made when it is first requested. */
export class ContractDocument {
  readonly #build: () => Promise<object>;
  #json: Promise<string> | undefined;
  #yaml: Promise<string> | undefined;

  constructor(build: () => Promise<object>) {
    this.#build = build;
  }

  json(): Promise<string> {
    this.#json ??= this.#build().then(document => JSON.stringify(document));
    return this.#json;
  }

  /** The committed file: to write it anew would block the event loop for a tenth of a second. */
  yaml(): Promise<string> {
    this.#yaml ??= readFile(CONTRACT_FILE, 'utf8');
    return this.#yaml;
  }
}

/** The text of `openapi.yaml`. */
export async function toYaml(document: object): Promise<string> {
  const { stringify } = await import('yaml');
  // Text that YAML 1.1 would read as something else, such as a date, is quoted: many tools still read YAML 1.1.
  return stringify(document, {
    schema: 'yaml-1.1',
    aliasDuplicateObjects: false,
    blockQuote: 'literal',
    lineWidth: 110,
  });
}
