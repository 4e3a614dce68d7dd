import type { Schema } from './schema.ts';

/** The schema of a resource: a named object. */
interface ResourceSchema extends Schema {
  readonly title: string;
  readonly properties: Readonly<Record<string, Schema>>;
}

/** The fields of a resource, some of which may be null. */
type PatchFields<Properties, Removable> = {
  readonly [P in keyof Properties]: P extends Removable
    ? Properties[P] & { readonly nullable: true }
    : Properties[P];
};

/**
 * The schema of a JSON merge patch (RFC 7396): it has the fields of the resource, all of them optional. The `removable` fields
 * may be null.
 */
export function patchOf<
  const R extends ResourceSchema,
  const Removable extends keyof R['properties'] & string,
>({ title, properties }: R, removable: readonly Removable[], example: object) {
  const isRemovable = (field: string) => (removable as readonly string[]).includes(field);
  const fields = Object.entries(properties).map(([field, schema]) => [
    field,
    isRemovable(field) ? { ...schema, nullable: true } : schema,
  ]);
  return {
    title: `${title}Patch`,
    type: 'object',
    additionalProperties: false,
    properties: Object.fromEntries(fields) as PatchFields<R['properties'], Removable>,
    example,
  } as const;
}
