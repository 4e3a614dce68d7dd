import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The published contract. `npm run check` fails when it differs from the route definitions. */
const CONTRACT_FILE = join(import.meta.dirname, '../../../../openapi.yaml');

/** The contract as it is served. It is built at the first request for it. */
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

  /** Reads the committed file: serializing the document would block the event loop for a tenth of a second. */
  yaml(): Promise<string> {
    this.#yaml ??= readFile(CONTRACT_FILE, 'utf8');
    return this.#yaml;
  }
}

/** The text of `openapi.yaml`. */
export async function toYaml(document: object): Promise<string> {
  const { stringify } = await import('yaml');
  // Quotes text that YAML 1.1 would parse as something else, such as a date: many tools still use YAML 1.1.
  return stringify(document, {
    schema: 'yaml-1.1',
    aliasDuplicateObjects: false,
    blockQuote: 'literal',
    lineWidth: 110,
  });
}
