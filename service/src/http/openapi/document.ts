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
  return stringify(document, { aliasDuplicateObjects: false, blockQuote: 'literal', lineWidth: 110 });
}
