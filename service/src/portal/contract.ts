import type { OpenAPIV3 } from 'openapi-types';

/** The parts of the OpenAPI document that the portal reads. */
export interface Contract {
  info: { title: string; version: string; description: string };
  servers: { url: string; variables?: object }[];
  tags: { name: string; description: string }[];
  'x-tagGroups': { name: string; tags: string[] }[];
  paths: Record<string, Record<string, OperationObject>>;
  components: {
    schemas: Record<string, Schema>;
    parameters: Record<string, Parameter>;
    headers: Record<string, Header>;
    responses: Record<string, ResponseObject>;
  };
  'x-error-codes': Record<string, { status: number; description: string }>;
}

export type Reference = OpenAPIV3.ReferenceObject;

export interface OperationObject {
  operationId: string;
  tags: string[];
  summary: string;
  description: string;
  deprecated?: boolean;
  security: object[];
  parameters?: (Parameter | Reference)[];
  requestBody?: { required?: boolean; content: Record<string, Media> };
  responses: Record<string, ResponseObject | Reference>;
  'x-required-scopes'?: string[];
  'x-required-scopes-any-of'?: string[];
  'x-deprecated-since'?: string;
  'x-deprecated-sunset'?: string;
  'x-deprecated-successor'?: string;
  'x-hideTryItPanel'?: boolean;
  'x-stability'?: string;
}

export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required?: boolean;
  description?: string;
  schema: Schema | Reference;
  example?: unknown;
}

export interface Header {
  description: string;
}

export interface Media {
  schema: Schema | Reference;
  example?: unknown;
  examples?: Record<string, { value: unknown }>;
}

export interface ResponseObject {
  description: string;
  headers?: Record<string, Header | Reference>;
  content?: Record<string, Media>;
}

export type Schema = OpenAPIV3.BaseSchemaObject & {
  type?: string;
  items?: Schema | Reference;
  'x-always-present'?: string[];
  'x-extensible-enum'?: string[];
};

/** An operation with its references resolved. */
export interface Operation {
  id: string;
  /** In capitals. */
  method: string;
  path: string;
  tag: string;
  summary: string;
  description: string;
  scopes: readonly string[];
  /** Scopes of which the key needs at least one in addition. */
  anyOfScopes: readonly string[];
  isSecured: boolean;
  /** Whether readers may try it out in the portal. */
  hasTryIt: boolean;
  /** `experimental` or `beta`; a stable operation has none. */
  stability: string | undefined;
  deprecation: { sunset: string; successor: string } | undefined;
  parameters: readonly Parameter[];
  body: { type: string; media: Media; isRequired: boolean } | undefined;
  responses: readonly Response[];
}

export interface Response {
  status: string;
  description: string;
  /** Whether other operations have the same response, or one with more codes. */
  isShared: boolean;
  headers: Record<string, Header>;
  type: string | undefined;
  media: Media | undefined;
  /** The examples, by error code if they are errors. */
  examples: Record<string, unknown>;
}

/** The contract as pages show it. */
export class ContractView {
  readonly document: Contract;
  readonly operations: readonly Operation[];
  /** The error codes of the responses that operations share. */
  readonly #sharedCodes: ReadonlySet<string>;

  constructor(document: Contract) {
    this.document = document;
    this.#sharedCodes = new Set(
      Object.values(document.components.responses).flatMap(({ content = {} }) =>
        Object.values(content).flatMap(({ examples = {} }) => Object.keys(examples)),
      ),
    );
    this.operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => this.#operation(path, method, operation)),
    );
  }

  operation(id: string): Operation | undefined {
    return this.operations.find(operation => operation.id === id);
  }

  /** The operations with a tag, in the order of the document. */
  withTag(tag: string): Operation[] {
    return this.operations.filter(operation => operation.tag === tag);
  }

  /** The schema itself, or the one that the reference names. */
  schema(schema: Schema | Reference): Schema {
    return this.#resolved(schema, this.document.components.schemas);
  }

  /** The operation that replaces a deprecated one; `undefined` if the successor is no operation of the document. */
  successorOf({ deprecation }: Operation): Operation | undefined {
    const [, method = 'GET', path] = /^(?:([A-Z]+) )?([^?]*)/.exec(deprecation?.successor ?? '') ?? [];
    return this.operations.find(operation => operation.path === path && operation.method === method);
  }

  #operation(path: string, method: string, object: OperationObject): Operation {
    const { components } = this.document;
    const { deprecated, requestBody, 'x-required-scopes': scopes = [] } = object;
    const { 'x-required-scopes-any-of': anyOfScopes = [] } = object;
    const [[type, media] = []] = Object.entries(requestBody?.content ?? {});
    return {
      id: object.operationId,
      method: method.toUpperCase(),
      path,
      tag: object.tags[0] ?? '',
      summary: object.summary,
      description: ownDescription(object.description),
      scopes,
      anyOfScopes,
      isSecured: object.security.length > 0,
      hasTryIt: object['x-hideTryItPanel'] !== true,
      stability: object['x-stability'],
      deprecation: deprecated
        ? {
            sunset: object['x-deprecated-sunset'] ?? '',
            successor: object['x-deprecated-successor'] ?? '',
          }
        : undefined,
      parameters: (object.parameters ?? []).map(parameter =>
        this.#resolved(parameter, components.parameters),
      ),
      body:
        type !== undefined && media ? { type, media, isRequired: requestBody?.required === true } : undefined,
      responses: Object.entries(object.responses).map(([status, response]) =>
        this.#response(status, response),
      ),
    };
  }

  #response(status: string, object: ResponseObject | Reference): Response {
    const { components } = this.document;
    const { description, headers = {}, content = {} } = this.#resolved(object, components.responses);
    const [[type, media] = []] = Object.entries(content);
    const examples = media?.examples
      ? Object.fromEntries(Object.entries(media.examples).map(([name, { value }]) => [name, value]))
      : media?.example === undefined
        ? {}
        : { '': media.example };
    const codes = Object.keys(examples);
    return {
      status,
      description,
      isShared: '$ref' in object || (codes.length > 0 && codes.every(code => this.#sharedCodes.has(code))),
      headers: Object.fromEntries(
        Object.entries(headers).map(([name, header]) => [name, this.#resolved(header, components.headers)]),
      ),
      type,
      media,
      examples,
    };
  }

  #resolved<T extends object>(part: T | Reference, components: Record<string, T>): T {
    if (!('$ref' in part)) return part;
    const name = part.$ref.replace(/^.*\//, '');
    const found = components[name];
    if (!found) throw new Error(`The contract has no ${name}`);
    return found;
  }
}

/** The description without the paragraphs about scopes and deprecation, which the pages show by themselves. */
function ownDescription(description: string): string {
  return description
    .split('\n\n')
    .filter(paragraph => !/^(Requires the scopes? |Deprecated: )/.test(paragraph))
    .join('\n\n');
}
