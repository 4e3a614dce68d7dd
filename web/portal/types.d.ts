/** The parts of the OpenAPI document that the portal reads. */
export interface Contract {
  info: { title: string; version: string; description: string };
  servers: { url: string }[];
  tags: { name: string; description: string }[];
  'x-tagGroups': { name: string; tags: string[] }[];
  paths: Record<string, Record<string, Operation>>;
  components: {
    parameters: Record<string, Parameter>;
    headers: Record<string, { description: string }>;
  };
  'x-error-codes': Record<string, { status: number; description: string }>;
}

export interface Operation {
  operationId: string;
  tags: string[];
  summary: string;
  description: string;
  deprecated?: boolean;
  security: object[];
  parameters?: (Parameter | Reference)[];
  requestBody?: { content: Record<string, { example?: unknown }> };
  responses: Record<string, { content?: Record<string, object> }>;
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
  schema: { default?: unknown; example?: unknown };
  example?: unknown;
}

/** A schema with its references resolved. */
export interface Schema {
  type?: string;
  format?: string;
  description?: string;
  nullable?: boolean;
  readOnly?: boolean;
  enum?: unknown[];
  default?: unknown;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  pattern?: string;
  required?: string[];
  items?: Schema;
  properties?: Record<string, Schema>;
  anyOf?: Schema[];
}

/** A union whose members a property distinguishes. */
export interface Union extends Schema {
  oneOf: (Schema & { properties: Record<string, Schema> })[];
  discriminator: { propertyName: string };
}

export interface Reference {
  $ref: string;
}

export interface ListedOperation {
  path: string;
  method: string;
  tag: string;
  operation: Operation;
}

/** A request as the viewer is about to send it. */
export interface ViewerRequest {
  url: string;
  method?: string;
  headers?: Record<string, string>;
  body?: unknown;
}

/** A value for which the viewer has no types. */
// biome-ignore lint/suspicious/noExplicitAny: the library ships without types
export type Untyped = any;

/** An immutable collection of the viewer, in which it stores documents and responses. */
export interface Immutable {
  size: number;
  get(key: string): Untyped;
  getIn(path: readonly (string | number)[]): Untyped;
  toJS(): Untyped;
  entrySeq(): { toArray(): [string, Untyped][] };
  filter(keep: (value: Immutable, key: string) => boolean): Immutable;
  map(change: (value: Immutable, key: string) => unknown): Immutable;
  toArray(): Untyped[];
  update(key: string, change: (value: Immutable) => Immutable): Immutable;
  push(...items: unknown[]): Immutable;
}

/** A component of React, or the name of an element. */
export type Component = Untyped;

/** What the viewer passes to its plugins. */
export interface ViewerSystem {
  React: {
    createElement(component: Component, props?: object | null, ...children: unknown[]): unknown;
    Fragment: Component;
    useState<T>(initial: T): [T, (value: T) => void];
    useRef<T>(initial: T): { current: T };
    useEffect(effect: () => void, when: readonly unknown[]): void;
  };
  getComponent(name: string, container?: boolean): Component;
  fn: Record<string, (...values: Untyped[]) => Untyped>;
  specSelectors: Record<string, (...values: Untyped[]) => Untyped>;
  specActions: Record<string, (...values: Untyped[]) => Untyped>;
  layoutSelectors: Record<string, (...values: Untyped[]) => Untyped>;
  layoutActions: Record<string, (...values: Untyped[]) => Untyped>;
}

declare global {
  /** The viewer library, loaded before the modules of the portal. */
  function SwaggerUIBundle(options: object): ViewerSystem;
}
