import type { Column, StoredColumn, StoredKey } from './columns.ts';
import type { Value } from './database.ts';
import type { Index } from './indexes.ts';
import type { Table } from './table.ts';

/**
 * A list of the API: its filters and its sorts. The indexes of the table determine which sets of filters can be combined, and in
 * which orders. The query parameters, their descriptions, the default sort, the rejections and the SQL are derived from it.
 */
export interface ListDeclaration<Property extends string = string> {
  /** A condition that all rows of the list meet. */
  where?: string;
  /** The owner of the resources: a property whose value the caller of `selectPage` passes, and not the client. */
  owner?: Property;
  /** The query parameters that filter the list, each with its condition. `selectPage` reads all of them. */
  filters: Readonly<Record<string, Condition<Property | StoredColumn>>>;
  /** The sorts by name, each with its properties. The last property is unique, so that the order is total. */
  sorts: Readonly<Record<string, readonly Property[]>>;
  /** A name for ascending, with a leading `-` for descending order. Filters that do not allow it have a default of their own. */
  defaultSort: string;
}

/** How a query parameter becomes a condition on a property, or on a column that the resource does not show. */
interface Condition<
  Property extends string | StoredColumn = string | StoredColumn,
  Kind extends ConditionKind = ConditionKind,
  S extends ParameterSchema = ParameterSchema,
> {
  kind: Kind;
  property: Property;
  /** The schema of the query parameter, with its description. */
  schema: S;
}

/** What a list needs of a schema. */
export interface ParameterSchema {
  readonly type: string;
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly items?: ParameterSchema;
}

export type ConditionKind = 'is' | 'anyOf' | KeyKind | RangeKind;

/** Conditions on a unique column. The few rows with its values are read, and the other filters and the sort apply to them. */
type KeyKind = 'unique' | 'oneOf';

/** Conditions that an index serves by a range, in the order of the property. The list then has a sort that starts with it. */
export type RangeKind = 'startsWith' | 'from' | 'below' | 'search';

function condition<const Kind extends ConditionKind>(kind: Kind) {
  return <P extends string | StoredColumn, const S extends ParameterSchema>(
    property: P,
    schema: S,
  ): Condition<P, Kind, S> => ({ kind, property, schema });
}

/** The property has the value. */
export const is = condition('is');

/** The property has one of up to 100 values. A page is merged from one range of an index for each of them. */
export const anyOf = condition('anyOf');

/** The property, which has a unique index, has the value. */
export const unique = condition('unique');

/** The property, which has a unique index, has one of 1 to 100 values. */
export const oneOf = condition('oneOf');

/** The text of the property starts with the value. */
export const startsWith = condition('startsWith');

/** The property has the value or a higher one. */
export const from = condition('from');

/** The property has a lower value. */
export const below = condition('below');

/** The text of the property has the words of the value. The caller finds them, in the order of the property, with the other filters. */
export const search = condition('search');

/** A list as it is read: its declaration, with columns instead of properties. */
export interface List<Resource extends object = object, D extends ListDeclaration = ListDeclaration> {
  declaration: D;
  table: Table<Resource>;
  /** `SELECT … FROM …`, including the columns of every sort, and of filters that apply to rows that were read. */
  select: string;
  filters: readonly Filter[];
  /** The column of the owner. */
  owner: string | undefined;
  /** All values of the columns with few values. An index that starts with them also serves lists without that filter. */
  among: ReadonlyMap<string, readonly Value[]>;
  sorts: Readonly<Record<string, Sort>>;
  /** The indexes of the table, the shortest first. */
  indexes: readonly Index[];
  /** The sorts of each set of filters that can be combined, by `setOf` the filters. A search has no sorts. */
  served: ReadonlyMap<string, readonly string[]>;
}

export interface Filter {
  name: string;
  kind: ConditionKind;
  column: StoredColumn;
}

export interface Sort {
  keys: readonly StoredKey[];
  /** The columns of the keys. */
  order: readonly string[];
  /** The first column can be null. The sort then needs a range: without it, the list would lack rows. */
  isNullable: boolean;
}

/** The name of a sort of a list, with `-` for descending. */
export type SortOf<L extends List> = Direction<keyof L['declaration']['sorts'] & string>;

export type Direction<Name extends string> = Name | `-${Name}`;

/** All query parameters of a list: filters, sort, cursor, limit and count. */
export type QueryOf<L extends List> = FiltersOf<L> & Place<SortOf<L>>;

type FiltersOf<L extends List> =
  L extends List<infer Resource, infer D>
    ? { readonly [F in keyof D['filters']]?: FilterValue<Resource, D['filters'][F]> | undefined }
    : never;

/** The value of the query parameter of a condition. */
type FilterValue<Resource, C> =
  C extends Condition<infer P, infer Kind>
    ? Kind extends 'oneOf' | 'anyOf'
      ? readonly ValueOf<Resource, P>[]
      : ValueOf<Resource, P>
    : never;

type ValueOf<Resource, P> = P extends keyof Resource
  ? NonNullable<Resource[P]>
  : P extends Column<infer Stored>
    ? Stored
    : never;

export type Place<Sort extends string> = {
  /** One of the sorts, with a leading `-` for descending order; the default depends on the filters. */
  sort?: Sort | undefined;
  cursor?: string | undefined;
  /** The default is the number of IDs in a filter by IDs, and 20 without it. */
  limit?: number | undefined;
  /** Whether to count the whole list, up to `MAX_COUNTED`. */
  count?: boolean | undefined;
};

/** The owner, which a list of owned resources requires. */
export type OwnerOf<D extends ListDeclaration> = D extends { owner: string } ? [owner: Value] : [];
