import { pageLimit, type Schema } from './schema.ts';

/** The success response of a list: a page of these items. */
export function pageOf<const Item extends Schema & { readonly example: unknown }>(
  items: Item,
  description: string,
) {
  return {
    status: 200,
    description,
    schema: { type: 'array', items, maxItems: pageLimit.maximum },
    example: [items.example],
  } as const;
}
