import type { Schema } from '../../contract/schema.ts';

/** A schema as OpenAPI 3.0.3 writes it, its named parts referred to. */
export type PublishedSchema = { $ref: string } | Record<string, unknown>;

/** Collects the schemas that have a title: each becomes a component once and is referred to everywhere else. */
export class NamedSchemas {
  readonly #named = new Map<string, PublishedSchema>();

  publish(schema: Schema): PublishedSchema {
    const { title } = schema;
    if (title === undefined) return this.spell(schema);
    if (!this.#named.has(title)) this.#named.set(title, this.spell(schema));
    return { $ref: `#/components/schemas/${title}` };
  }

  components(): Record<string, PublishedSchema> {
    return Object.fromEntries(this.#named);
  }

  /** The schema itself, its named parts referred to. */
  spell(schema: Schema): PublishedSchema {
    const { title: _title, items, properties, ...rest } = schema;
    return {
      ...rest,
      ...(items && { items: this.publish(items) }),
      ...(properties && {
        properties: Object.fromEntries(
          Object.entries(properties).map(([name, property]) => [name, this.publish(property)]),
        ),
      }),
    };
  }
}
