import type { Schema } from '../../contract/schema.ts';
import type { NamedSchemas } from './schemas.ts';

type Place = 'path' | 'query' | 'header';

/** The parameters that the properties of `schema` describe. */
export function parametersIn(place: Place, schema: Schema | undefined, schemas: NamedSchemas): object[] {
  return Object.entries(schema?.properties ?? {}).map(([name, { description, ...property }]) => ({
    name,
    in: place,
    required: schema?.required?.includes(name) ?? false,
    description,
    schema: schemas.inline(property),
    ...(property.type === 'array' && { style: 'form', explode: true }),
    example: exampleOf(property),
  }));
}

/** A text needs one of its own: what it finds, or whether it is accepted, depends on it. */
function exampleOf(schema: Schema): unknown {
  if (schema.example !== undefined) return schema.example;
  if (schema.default !== undefined) return schema.default;
  if (schema.enum) return schema.enum[0];
  if (schema.items) return [exampleOf(schema.items)];
  if (schema.type === 'boolean') return false;
  if (schema.format === 'date-time') return '2026-12-01T00:00:00Z';
  return schema.type === 'integer' ? 1 : undefined;
}
