import {
  documentedOperations,
  isStream,
  type OperationObject,
  resolved,
  type SchemaObject,
} from '../contract/document.ts';

interface Body {
  /** A body that the operation accepts. */
  example: Record<string, unknown>;
  properties: Record<string, SchemaObject>;
  required: string[];
}

interface KnownOperation {
  method: string;
  /** For example `/pets/{petId}`. */
  template: string;
  body: Body | undefined;
}

/** Every operation of the contract whose response ends. */
export const operations: readonly KnownOperation[] = documentedOperations
  .filter(({ operation }) => !isStream(operation))
  .map(({ method, path, operation }) => ({ method, template: path, body: bodyOf(operation) }));

export const operationsWithBody = operations.filter(
  (operation): operation is KnownOperation & { body: Body } => operation.body !== undefined,
);

/** A path of the contract with its IDs filled in. */
export function filled(template: string, id: string | number = 1): string {
  return template.replace(/\{\w+\}/g, () => String(id));
}

export function bodyOf({ requestBody }: OperationObject): Body | undefined {
  if (!requestBody) return undefined;
  const { schema, example } = requestBody.content['application/json']!;
  const shapes = (schema.anyOf ?? [schema]).map(resolved);
  const properties = Object.assign({}, ...shapes.map(shape => shape.properties));
  return {
    example: example as Body['example'],
    properties: Object.fromEntries(
      Object.entries<SchemaObject>(properties).map(([name, property]) => [name, resolved(property)]),
    ),
    required: shapes[0]!.required ?? [],
  };
}
