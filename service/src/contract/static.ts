import type { Schema } from './schema.ts';

/** The TypeScript type of the values that a schema accepts, with defaults filled in. */
export type Static<S extends Schema> = S extends { nullable: true } ? Value<S> | null : Value<S>;

type Value<S extends Schema> = S extends { enum: readonly (infer Text)[] }
  ? Text
  : S extends { type: 'any' }
    ? unknown
    : S extends { type: 'string' }
      ? string
      : S extends { type: 'integer' }
        ? number
        : S extends { type: 'boolean' }
          ? boolean
          : S extends { type: 'array'; items: infer Items extends Schema }
            ? Static<Items>[]
            : S extends { type: 'array' }
              ? unknown[]
              : S extends { properties: infer Properties extends Record<string, Schema> }
                ? Flat<ObjectOf<Properties, S extends { required: readonly (infer Name)[] } ? Name : never>>
                : Record<never, never>;

type ObjectOf<Properties extends Record<string, Schema>, Required> = {
  [Name in keyof Properties as IsPresent<Name, Properties[Name], Required> extends true
    ? Name
    : never]: Static<Properties[Name]>;
} & {
  [Name in keyof Properties as IsPresent<Name, Properties[Name], Required> extends true
    ? never
    : Name]?: Static<Properties[Name]>;
};

type IsPresent<Name, Property, Required> = Name extends Required
  ? true
  : Property extends { default: unknown }
    ? true
    : false;

type Flat<T> = { [Name in keyof T]: T[Name] };

/** The type of a stored resource. Its schema does not require the properties that it always has. */
export type StaticStored<S extends Schema & { alwaysPresent: readonly string[] }> = Static<S> &
  Required<Pick<Static<S>, S['alwaysPresent'][number] & keyof Static<S>>>;
