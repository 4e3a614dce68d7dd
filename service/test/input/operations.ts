import { contract } from '../support/contract.ts';

interface Property {
  type: string;
  nullable?: boolean;
  properties?: Record<string, Property>;
  $ref?: string;
}

interface Shape {
  properties: Record<string, Property>;
  required?: string[];
  example?: object;
  $ref?: string;
  anyOf?: Shape[];
}

export interface OperationWithBody {
  method: string;
  /** With 1 for its ID. */
  path: string;
  /** A body that it takes. */
  example: Record<string, unknown>;
  properties: Record<string, Property>;
  required: string[];
}

/** The operations of the contract that take a body, with what the body may hold. */
export const operationsWithBody: OperationWithBody[] = Object.entries(contract.paths).flatMap(
  ([path, operations]) =>
    Object.entries(operations)
      .filter(([, operation]) => 'requestBody' in operation)
      .map(([method, operation]) => {
        const { requestBody } = operation as unknown as {
          requestBody: { content: Record<string, { schema: Shape; example: Record<string, unknown> }> };
        };
        const { schema, example } = requestBody.content['application/json']!;
        const shapes = (schema.anyOf ?? [schema]).map(resolved);
        const properties = Object.assign({}, ...shapes.map(shape => shape.properties)) as Record<
          string,
          Property
        >;
        return {
          method: method.toUpperCase(),
          path: path.replace(/\{\w+\}/, '1'),
          example,
          properties: Object.fromEntries(
            Object.entries(properties).map(([name, property]) => [name, resolved(property)]),
          ),
          required: shapes[0]!.required ?? [],
        };
      }),
);

function resolved<T extends { $ref?: string }>(schema: T): T {
  return schema.$ref === undefined
    ? schema
    : (contract.components.schemas[schema.$ref.split('/').at(-1)!] as T);
}
