import type { Column, StoredColumn } from './columns.ts';
import { one, type Queries, type Row, type Statements, type Transaction, type Value } from './database.ts';
import { type Insert, insertInto, type Update } from './insert.ts';

/** One column for each property of a resource, in the order of the properties in responses. */
type ColumnsOf<Resource> = { readonly [P in keyof Resource]-?: Column<Resource[P]> };

/** A resource without the ID, which the store assigns. */
export type New<Resource> = Omit<Resource, 'id'>;

/** The resource of a table whose type follows from its columns. */
export type ResourceOf<T> = T extends Table<infer Resource> ? Resource : never;

interface Field extends StoredColumn {
  readonly property: string;
}

/**
 * A table and its columns, which are declared only here. The statements, the conversion of rows to resources and the
 * comparison of two states of a resource are derived from the declaration. A row is identified by its column `id`.
 */
export class Table<Resource extends object> {
  readonly name: string;
  /** The columns of a resource, for SELECT and RETURNING. */
  readonly columns: string;
  /** The columns that INSERT and UPDATE write. Their values come from `valuesOf`. */
  readonly written: readonly string[];
  /** One parameter for each written column. */
  readonly parameters: string;
  /** For an UPDATE: each written column with its parameter. */
  readonly assignments: string;
  readonly #fields: readonly Field[];
  readonly #writtenFields: readonly Field[];
  readonly #select: string;
  readonly #insert: Insert;
  readonly #update: Update;
  readonly #updateReturning: string;
  readonly #delete: string;

  /**
   * Throws when two properties have the same column.
   *
   * @param insert whether a transaction may hold a new row back, and after which rows
   */
  constructor(name: string, columns: ColumnsOf<Resource>, insert: Pick<Insert, 'canWait' | 'after'> = {}) {
    this.name = name;
    this.#fields = Object.entries<StoredColumn>(columns).map(([property, column]) => ({
      property,
      ...column,
    }));
    const names = this.#fields.flatMap(({ name, key }) => (key ? [name, key.name] : [name]));
    const twice = names.find((column, i) => names.indexOf(column) !== i);
    if (twice !== undefined) throw new Error(`${name} has two properties in the column ${twice}`);
    this.#writtenFields = this.#fields.filter(({ isAssigned }) => !isAssigned);
    this.columns = this.#fields.map(column => column.name).join(', ');
    this.written = this.#writtenFields.flatMap(({ name, key }) => (key ? [name, key.name] : [name]));
    this.parameters = this.written.map(() => '?').join(', ');
    this.assignments = this.written.map(column => `${column} = ?`).join(', ');
    this.#select = `SELECT ${this.columns} FROM ${name} WHERE id = ?`;
    this.#insert = { ...insertInto(name, this.written), ...insert };
    const sql = `UPDATE ${name} SET ${this.assignments} WHERE id = ?`;
    this.#update = { table: name, columns: this.written, sql };
    this.#updateReturning = `${sql} RETURNING ${this.columns}`;
    this.#delete = `DELETE FROM ${name} WHERE id = ?`;
  }

  find(db: Queries, id: number): Promise<Resource | undefined> {
    return db.get<Row>(this.#select, [id]).then(this.#found);
  }

  /** Reads a resource that a caller needs. Throws `missing(id)` when it does not exist. */
  read(db: Queries, id: number, missing: (id: number) => Error): Promise<Resource> {
    return db.get<Row>(this.#select, [id]).then(row => {
      if (row === undefined) throw missing(id);
      return this.toResource(row);
    });
  }

  readonly #found = (row: Row | undefined): Resource | undefined => row && this.toResource(row);

  /** Stores a new resource. Resolves with the stored resource. */
  async insert(tx: Transaction, resource: New<Resource>): Promise<Resource> {
    const id = await tx.insert(this.#insert, this.valuesOf(resource));
    if (id === undefined) throw new Error(`No row was inserted into ${this.name}`);
    return this.storedAs(id, resource);
  }

  /** Replaces an existing resource. Resolves with the stored resource. */
  async update(db: Statements, id: number, resource: New<Resource>): Promise<Resource> {
    return this.toResource(await one<Row>(db, this.#updateReturning, [...this.valuesOf(resource), id]));
  }

  /** Replaces an existing resource without waiting. The transaction has locked it. */
  sendUpdate(tx: Transaction, id: number, resource: New<Resource>): void {
    tx.update(this.#update, id, this.valuesOf(resource));
  }

  /** Deletes a resource without waiting. The transaction has locked it. */
  sendDelete(tx: Transaction, id: number): void {
    tx.send(this.#delete, [id]);
  }

  /** Converts a row to a resource. The properties are always set in the order of the declaration, so that V8 needs one hidden class. */
  readonly toResource = (row: Row): Resource => {
    const resource: Record<string, unknown> = {};
    for (const { property, name, read } of this.#fields) {
      const value = read(row[name]!);
      if (value !== undefined) resource[property] = value;
    }
    return resource as Resource;
  };

  /** Returns the resource as it is stored, with the ID that the store assigned. */
  storedAs(id: number, resource: New<Resource>): Resource {
    const properties = resource as Readonly<Record<string, unknown>>;
    const stored: Record<string, unknown> = {};
    for (const { property, read, write, isAssigned } of this.#fields) {
      const value = isAssigned ? id : read(write(properties[property]));
      if (value !== undefined) stored[property] = value;
    }
    return stored as Resource;
  }

  /** Returns the values of the written columns. */
  valuesOf(resource: New<Resource>): Value[] {
    const properties = resource as Readonly<Record<string, unknown>>;
    const values: Value[] = [];
    for (const { property, write, key } of this.#writtenFields) {
      const value = properties[property];
      values.push(write(value));
      if (key) values.push(key.write(value));
    }
    return values;
  }

  /** Whether two states of a resource have different stored values, so that the change between them is an event. */
  differ(before: New<Resource>, after: New<Resource>): boolean {
    const [old, current] = [this.valuesOf(before), this.valuesOf(after)];
    return old.some((value, i) => value !== current[i]);
  }

  /** Returns the column of a property. Throws when the resource has no such property. */
  columnOf(property: string): StoredColumn {
    const field = this.#fields.find(field => field.property === property);
    if (!field) throw new Error(`${this.name} has no column for ${property}`);
    return field;
  }
}
