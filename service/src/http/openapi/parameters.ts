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
    example: exampleOf(property, place),
  }));
}

function exampleOf(schema: Schema, place: Place): unknown {
  if (schema.example !== undefined) return schema.example;
  if (schema.default !== undefined) return schema.default;
  if (schema.enum) return schema.enum[0];
  if (schema.items) return [exampleOf(schema.items, place)];
  if (schema.type === 'boolean') return false;
  if (schema.format === 'date-time') return '2026-12-01T00:00:00Z';
  if (schema.type === 'integer') return 1;
  return 'bis';
}
