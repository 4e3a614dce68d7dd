import type { NewPet } from '@petstore/client';
import type { Field } from './columns.ts';
import { plainText } from './plain-text.ts';

/** The rules of the contract for a new pet and its stock. A test compares them with the contract. */
export const rules = {
  name: {
    maxLength: 200,
    pattern: String.raw`^[\t-\r\u0020\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]*[^\u0000-\u001f\u007f-\u009f\u0020\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000\u00ad\u200b\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb][^\u0000-\u001f\u007f-\u009f\u00ad\u200b\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]*([\t-\r][\t-\r\u0020\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]*)?$`,
  },
  status: ['available', 'pending', 'sold'],
  quantity: { maximum: 2_147_483_647 },
} as const;

const visible = new RegExp(rules.name.pattern, 'u');

/** Other words for the statuses, without accents: English, German, French and Spanish. */
const statusWords: Record<NonNullable<NewPet['status']>, readonly string[]> = {
  available: ['in stock', 'verfugbar', 'lieferbar', 'vorratig', 'disponible', 'en stock'],
  pending: [
    ...['on hold', 'reserved', 'reserviert', 'vorgemerkt'],
    ...['reserve', 'reservee', 'en attente'],
    ...['reservado', 'reservada', 'pendiente'],
  ],
  sold: [
    ...['sold out', 'verkauft', 'ausverkauft'],
    ...['vendu', 'vendue', 'epuise'],
    ...['vendido', 'vendida', 'agotado', 'agotada'],
  ],
};

/** Why a row was not imported: a code of the contract, and what to do. */
export class Rejection extends Error {
  readonly code: string;
  /** The field that has to be corrected; `undefined` if it is the whole row. */
  readonly field: Field | undefined;

  constructor(code: string, message: string, field?: Field) {
    super(message);
    this.code = code;
    this.field = field;
  }
}

/** A pet with its stock, as a row describes it. The compiler rejects `petOf` when it lacks a field that a new pet can have. */
export type ImportedPet = {
  [Field in keyof Omit<Required<NewPet>, 'id' | 'name' | 'categoryId'>]: NewPet[Field] | undefined;
} & {
  name: string;
  /** The name of a category, or its ID. A name comes first, because IDs differ between shops. */
  category: string | number;
  quantity: number | undefined;
};

/** Returns the pet of a row. Throws a `Rejection` if it breaks a rule. */
export function petOf(values: Readonly<Record<string, unknown>>): ImportedPet {
  const { name, status, quantity, category, categoryId } = values;
  const pet = {
    name: nameOf('name', name),
    status: isMissing(status) ? undefined : statusOf(status),
    quantity: isMissing(quantity) ? undefined : integerOf('quantity', quantity, 0, rules.quantity.maximum),
    category: isMissing(category)
      ? integerOf('categoryId', categoryId, 1, Number.MAX_SAFE_INTEGER)
      : nameOf('category', category),
  };
  checkStock(pet);
  return pet;
}

/** Returns the body that creates a pet of a category. A pet without stock is sold, unless an order is to hold its unit. */
export function newPetOf(imported: ImportedPet, categoryId: number): NewPet {
  const { category: _, quantity, status, ...pet } = imported;
  const created = isHeld(imported) ? 'available' : quantity === 0 ? 'sold' : status;
  return { ...pet, categoryId, ...(created && { status: created }) };
}

/**
 * What has to follow the creation of a pet, so that it has the stock of its row: a quantity, or an open order that holds its unit. A pet
 * starts with one unit, or none when it is sold.
 */
export type Completion = { kind: 'stock'; quantity: number } | { kind: 'order'; quantity: 1 };

export function completionOf(pet: Pick<ImportedPet, 'status' | 'quantity'>): Completion | undefined {
  if (isHeld(pet)) return { kind: 'order', quantity: 1 };
  const { quantity } = pet;
  return quantity !== undefined && quantity > 1 ? { kind: 'stock', quantity } : undefined;
}

/** Whether open orders hold all units of a pet. Their number is not in the file. */
function isHeld({ status, quantity }: Pick<ImportedPet, 'status' | 'quantity'>): boolean {
  return status === 'pending' && quantity === 0;
}

/** A quantity decides about the status, so that one of both would be lost. */
function checkStock({ status, quantity }: Pick<ImportedPet, 'status' | 'quantity'>): void {
  if (status === 'sold' && quantity !== undefined && quantity > 0)
    reject('quantity', `a sold pet has no stock, but the row has ${quantity}. Write 0, or another status`);
  if (status === 'available' && quantity === 0)
    reject('quantity', 'a pet that is available has at least 1. Write 1 or more, or the status sold');
}

function nameOf(field: Field, value: unknown): string {
  if (isMissing(value)) reject(field, `write 1 to ${rules.name.maxLength} characters`);
  if (typeof value !== 'string') reject(field, `write a text instead of ${JSON.stringify(value)}`);
  const length = [...value].length;
  if (length > rules.name.maxLength)
    reject(field, `write at most ${rules.name.maxLength} characters instead of ${length}`);
  if (!visible.test(value))
    reject(
      field,
      `write visible characters only, without ${hiddenIn(value) ?? 'line breaks and other control characters'}`,
    );
  return value;
}

/** The first invisible character that a name may not have, such as `U+202E`. */
function hiddenIn(text: string): string | undefined {
  const hidden = /[\u00ad\u200b\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/.exec(text)?.[0];
  return hidden && `U+${hidden.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`;
}

function statusOf(value: unknown): ImportedPet['status'] {
  const word = typeof value === 'string' ? plainText(value.trim()) : value;
  const status = rules.status.find(
    status => status === word || statusWords[status].some(other => other === word),
  );
  return (
    status ?? reject('status', `write one of ${rules.status.join(', ')} instead of ${JSON.stringify(value)}`)
  );
}

function integerOf(field: Field, value: unknown, minimum: number, maximum: number): number {
  if (isMissing(value)) reject('category', `write the name of a category, or its ID as ${field}`);
  // Some programs write 3 as 3.0. In 3.000 the dot may separate thousands.
  const [, digits] = (typeof value === 'string' && /^\s*(\d+)(?:[.,]0{1,2})?\s*$/.exec(value)) || [];
  const number = digits === undefined ? value : Number(digits);
  if (Number.isSafeInteger(number) && (number as number) >= minimum && (number as number) <= maximum)
    return number as number;
  return reject(
    field,
    `write a whole number from ${minimum} to ${maximum} instead of ${JSON.stringify(value)}`,
  );
}

const isMissing = (value: unknown) => value === undefined || value === null || value === '';

function reject(field: Field, message: string): never {
  throw new Rejection('invalid_request', `${field}: ${message}`, field);
}
