/**
 * The names of the fields that a value has and its type must not have, also within objects and arrays; `never` if it has none. The
 * compiler accepts such a value where the type is expected, and its JSON text would show the fields to clients.
 */
type ExtraField<Given, Wanted> = Given extends readonly (infer Item)[]
  ? ExtraField<Item, ItemOf<Wanted>>
  : Given extends object
    ? IsOpen<Wanted> extends true
      ? never
      : {
          [F in keyof Given]-?: F extends KeyOf<Wanted> ? ExtraField<Given[F], ValueOf<Wanted, F>> : F;
        }[keyof Given]
    : never;

/** What a value must be in addition to its type: for a value with an extra field, a text that no value is, for the message. */
export type Exactly<Given, Wanted> = [ExtraField<Given, Wanted>] extends [never]
  ? unknown
  : `Not part of the schema: ${ExtraField<Given, Wanted> & string}`;

type ItemOf<T> = T extends readonly (infer Item)[] ? Item : never;

/** The fields of an object; of a union, those of all its members. */
type KeyOf<T> = T extends object ? keyof T : never;

type ValueOf<T, F> = T extends object ? (F extends keyof T ? T[F] : never) : never;

/** Whether an object may have any fields. */
type IsOpen<T> = [KeyOf<T>] extends [never] ? true : false;
