import { keysOf } from '../kit/objects.ts';
import type { Schema } from './schema.ts';

type Properties = Readonly<Record<string, Schema>>;

interface ShapeDefinition<P extends Properties, Optional extends keyof P, Example> {
  /** The name of the component in the contract. */
  title: string;
  description?: string;
  properties: P;
  /** The properties that a value may lack. It must have all others. */
  optional?: readonly Optional[];
  example: Example;
}

interface Shape<P extends Properties, Optional extends keyof P, Example> {
  readonly title: string;
  readonly type: 'object';
  readonly required: readonly Exclude<keyof P & string, Optional>[];
  readonly additionalProperties: false;
  readonly properties: P;
  readonly example: Example;
}

/** Returns the schema of an object with these properties and no others. */
export function shape<
  const P extends Properties,
  const Example extends object,
  const Optional extends keyof P & string = never,
>({
  title,
  description,
  properties,
  optional = [],
  example,
}: ShapeDefinition<P, Optional, Example>): Shape<P, Optional, Example> {
  const mayLack: readonly string[] = optional;
  const required = keysOf(properties).filter(
    (name): name is Exclude<typeof name, Optional> => !mayLack.includes(name),
  );
  return {
    title,
    type: 'object',
    ...(description !== undefined && { description }),
    // OpenAPI 3.0 has no empty list.
    ...(required.length > 0 && { required }),
    additionalProperties: false,
    properties,
    example,
  } as Shape<P, Optional, Example>;
}

/** Returns the schema of parameters, each of which a request may lack. */
export function parameters<const P extends Properties>(properties: P) {
  return { type: 'object', additionalProperties: false, properties } as const;
}
