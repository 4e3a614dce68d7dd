import { type OperationObject, resolved, type SchemaObject } from '../contract/document.ts';

interface Body {
  /** A body that the operation accepts. */
  example: Record<string, unknown>;
  properties: Record<string, SchemaObject>;
  required: string[];
}

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
