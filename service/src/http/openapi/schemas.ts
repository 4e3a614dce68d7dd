import type { Schema } from '../../contract/schema.ts';

/** A schema of OpenAPI 3.0.3, with references to its named parts. */
export type PublishedSchema = { $ref: string } | Record<string, unknown>;

/** Collects the schemas that have a title: each becomes one component, and other places refer to it. */
export class NamedSchemas {
  readonly #named = new Map<string, PublishedSchema>();

  publish(schema: Schema): PublishedSchema {
    const { title } = schema;
    if (title === undefined) return this.inline(schema);
    if (!this.#named.has(title)) this.#named.set(title, this.inline(schema));
    return { $ref: `#/components/schemas/${title}` };
  }

  components(): Record<string, PublishedSchema> {
    return Object.fromEntries(this.#named);
  }

  /** The schema itself, with references to its named parts. */
  inline(schema: Schema): PublishedSchema {
    const {
      title: _title,
      patternRule: _rule,
      strictPattern: _strict,
      isDisplayText: _trimmed,
      ...published
    } = schema;
    const { items, properties, oneOf, discriminator: _name, alwaysPresent, knownValues, ...rest } = published;
    if (oneOf) return this.#union(schema, oneOf);
    const { type: _any, ...untyped } = rest;
    return {
      ...(rest.type === 'any' ? untyped : rest),
      ...(knownValues && { 'x-extensible-enum': knownValues }),
      ...(alwaysPresent && { 'x-always-present': alwaysPresent }),
      ...(items && { items: this.publish(items) }),
      ...(properties && {
        properties: Object.fromEntries(
          Object.entries(properties).map(([name, property]) => [
            name,
            this.publish(describedDefault(property)),
          ]),
        ),
      }),
    };
  }

  /** Lists every value of a discriminator, because generators do not derive them from the members. */
  #union(
    { description, example, discriminator: propertyName }: Schema,
    members: readonly Schema[],
  ): PublishedSchema {
    const oneOf = members.map(member => this.publish(member));
    if (propertyName === undefined) return { description, oneOf, example };
    const mapping = members.flatMap(({ title, properties }) =>
      properties![propertyName]!.enum!.map(value => [value, `#/components/schemas/${title}`]),
    );
    return {
      description,
      oneOf,
      discriminator: { propertyName, mapping: Object.fromEntries(mapping) },
      example,
    };
  }
}

/**
 * A property whose description states its default. Generators make a property with the keyword `default` required in the type of
 * a body.
 */
function describedDefault({ default: value, ...property }: Schema): Schema {
  if (value === undefined) return property;
  return { ...property, description: `${property.description} Default: \`${value}\`.` };
}
