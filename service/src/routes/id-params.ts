import { idToFind } from '../contract/schema.ts';

/** The schema of path parameters with one ID. */
export function idParams<const Name extends string>(name: Name, description: string) {
  const parameter = { ...idToFind, description } as const;
  return {
    type: 'object',
    required: [name],
    additionalProperties: false,
    properties: { [name]: parameter } as { [N in Name]: typeof parameter },
  } as const;
}

/** The schema of path parameters with the IDs of a resource and of one of its parts. */
export function nestedIdParams<const Owner extends string, const Name extends string>(
  owner: ReturnType<typeof idParams<Owner>>,
  name: ReturnType<typeof idParams<Name>>,
) {
  return {
    type: 'object',
    required: [...owner.required, ...name.required],
    additionalProperties: false,
    properties: { ...owner.properties, ...name.properties },
  } as const;
}
