import { pageLimit, type Schema } from './schema.ts';

/** The success response of a list: as many of these items as a page may have. */
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
