/** The contract as it is served, made when it is first asked for. */
export class ContractDocument {
  readonly #build: () => object;
  #json: string | undefined;
  #yaml: string | undefined;

  constructor(build: () => object) {
    this.#build = build;
  }

  json(): string {
    this.#json ??= JSON.stringify(this.#build());
    return this.#json;
  }

  async yaml(): Promise<string> {
    this.#yaml ??= await toYaml(this.#build());
    return this.#yaml;
  }
}

/** The text of `openapi.yaml`. The YAML library is loaded only when it is needed: it would slow every start. */
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
