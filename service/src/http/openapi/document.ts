import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Content } from '../../kit/content.ts';
import { kept } from '../../kit/kept.ts';
import type { ServiceDocument } from './build.ts';

/** The published contract. `npm run check` fails when it differs from the route definitions. */
const CONTRACT_FILE = join(import.meta.dirname, '../../../../openapi.yaml');

/** The beginning of the list of servers in the published contract. */
const SERVERS = /^servers:\n/m;

/** The contract as it is served: the published one, with the public URL of the service as its first server. */
export class ContractDocument {
  /** Without a slash at its end, because paths begin with one; `undefined` if the operator has not configured it. */
  readonly #publicUrl: string | undefined;
  readonly json: () => Promise<string>;
  readonly jsonContent = kept(async () => new Content('application/json; charset=utf-8', await this.json()));
  readonly yamlContent = kept(async () => new Content('application/yaml; charset=utf-8', await this.#yaml()));

  /** `publicUrl` is the URL of the service with a slash at its end, or `/`. `build` runs at the first request for the document. */
  constructor(build: () => Promise<ServiceDocument>, publicUrl: string) {
    this.#publicUrl = publicUrl === '/' ? undefined : publicUrl.replace(/\/$/, '');
    this.json = kept(async () => JSON.stringify(this.#served(await build())));
  }

  /** Reads the committed file: serializing the document would block the event loop for a tenth of a second. */
  async #yaml(): Promise<string> {
    const published = await readFile(CONTRACT_FILE, 'utf8');
    const url = this.#publicUrl;
    return url
      ? published.replace(SERVERS, servers => `${servers}  - url: ${JSON.stringify(url)}\n`)
      : published;
  }

  #served(document: ServiceDocument): ServiceDocument {
    const url = this.#publicUrl;
    if (!url) return document;
    return { ...document, servers: [{ url }, ...document.servers] };
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
