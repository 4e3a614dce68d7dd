import { contract, type Operation } from './contract.ts';

interface Property {
  type: string;
  nullable?: boolean;
  readOnly?: boolean;
  $ref?: string;
}

interface Shape {
  properties: Record<string, Property>;
  required?: string[];
  $ref?: string;
  anyOf?: Shape[];
}

interface Body {
  /** A body that the operation accepts. */
  example: Record<string, unknown>;
  properties: Record<string, Property>;
  required: string[];
}

export interface KnownOperation {
  operationId: string;
  method: string;
  /** For example `/pets/{petId}`. */
  template: string;
  needsKey: boolean;
  /** The scopes that the key needs; empty when any key is accepted, or none is needed. */
  scopes: readonly string[];
  body: Body | undefined;
}

/** Every operation of the contract whose response ends. */
export const operations: readonly KnownOperation[] = Object.entries(contract.paths).flatMap(
  ([template, methods]) =>
    Object.entries(methods)
      .filter(([, operation]) => !isStream(operation))
      .map(([method, operation]) => ({
        operationId: operation.operationId,
        method: method.toUpperCase(),
        template,
        needsKey: operation.security.length > 0,
        scopes: (operation['x-required-scopes'] ?? []) as string[],
        body: bodyOf(operation),
      })),
);

export const operationsWithBody = operations.filter(
  (operation): operation is KnownOperation & { body: Body } => operation.body !== undefined,
);

/** Whether an operation returns a stream, which does not end by itself. */
export function isStream({ responses }: Operation): boolean {
  const success = responses[200];
  return success !== undefined && 'content' in success && 'text/event-stream' in success.content!;
}

/** A path of the contract with its IDs filled in. */
export function filled(template: string, id: string | number = 1): string {
  return template.replace(/\{\w+\}/g, () => String(id));
}

function bodyOf(operation: Operation): Body | undefined {
  if (!operation.requestBody) return undefined;
  const { schema, example } = operation.requestBody.content['application/json']! as {
    schema: Shape;
    example: Body['example'];
  };
  const shapes = (schema.anyOf ?? [schema]).map(resolved);
  const properties = Object.assign({}, ...shapes.map(shape => shape.properties)) as Body['properties'];
  return {
    example,
    properties: Object.fromEntries(
      Object.entries(properties).map(([name, property]) => [name, resolved(property)]),
    ),
    required: shapes[0]!.required ?? [],
  };
}

function resolved<T extends { $ref?: string }>(schema: T): T {
  const name = schema.$ref?.split('/').at(-1);
  return name === undefined ? schema : (contract.components.schemas[name] as T);
}
