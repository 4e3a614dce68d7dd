import type { Account, BatchOperation } from '@petstore/client';
import {
  type CategoryNames,
  type Completion,
  completionOf,
  newPetOf,
  petOf,
  Rejection,
  type RowNames,
} from '@petstore/pet-files';
import { LoginError } from '../failure.ts';
import type { Batch } from './journal.ts';
import type { Row } from './rows.ts';

/** A batch of rejected rows only is stored after this many, so that it needs little memory. */
const MAX_ROWS = 1000;

/** A row with its operations, which has none if its pet exists, or why it is rejected. */
type Prepared = { row: Row; operations: BatchOperation[] } | { row: Row; rejection: Rejection };

/** What the rows of an import need. */
export interface Needs {
  categories: CategoryNames;
  /** `undefined` to create pets that exist. */
  existing: RowNames | undefined;
  /** Whether the API key has a scope. */
  mayDo: (scope: Account['scopes'][number]) => boolean;
}

/** A batch, and the rows that it is made of. */
export interface Work extends Batch {
  source: Row[];
}

/** Makes batches of rows. */
export class BatchBuilder {
  readonly #rows: AsyncIterator<Row>;
  readonly #needs: Needs;
  /** A row that did not fit into the last batch. */
  #next: Prepared | undefined;

  constructor(rows: AsyncIterator<Row>, needs: Needs) {
    this.#rows = rows;
    this.#needs = needs;
  }

  /** Returns the next batch of at most `size` operations, but at least one row; `undefined` at the end of the file. */
  async take(size: number): Promise<Work | undefined> {
    const work: Work = {
      rows: 0,
      lines: [0, 0],
      operations: [],
      pets: [],
      rejections: [],
      existing: 0,
      source: [],
    };
    while (work.rows < MAX_ROWS) {
      const prepared = this.#next ?? (await this.#prepareNext());
      this.#next = prepared;
      if (!prepared) break;
      const operations = 'operations' in prepared ? prepared.operations : [];
      if (work.operations.length > 0 && work.operations.length + operations.length > size) break;
      add(work, prepared);
      this.#next = undefined;
    }
    if (work.rows === 0) return undefined;
    return { ...work, lines: [work.source[0]!.line, work.source.at(-1)!.line] };
  }

  async #prepareNext(): Promise<Prepared | undefined> {
    const { done, value: row } = await this.#rows.next();
    if (done) return undefined;
    try {
      return { row, operations: await this.#operationsOf(row) };
    } catch (error) {
      if (error instanceof Rejection) return { row, rejection: error };
      throw error;
    }
  }

  async #operationsOf({ line, values }: Row): Promise<BatchOperation[]> {
    if (typeof values === 'string') throw new Rejection('invalid_request', values);
    const { categories, existing } = this.#needs;
    const pet = petOf(values);
    const categoryId = await categories.find(pet.category);
    if (await existing?.findOrAdd(pet.name, categoryId)) return [];
    const body = newPetOf(pet, categoryId);
    const completion = completionOf(pet);
    if (completion === undefined) return [{ method: 'POST', path: '/pets', body }];
    checkScope(completion, line, this.#needs.mayDo);
    const label = `line-${line}`;
    return [{ method: 'POST', path: '/pets', body, label }, operationOf(completion, label)];
  }
}

/** Throws a `LoginError` if the API key may not complete a pet, which would then have another stock than its row. */
export function checkScope({ kind }: Completion, line: number, mayDo: Needs['mayDo']): void {
  const scope = kind === 'stock' ? 'inventory:write' : 'orders:write';
  const part =
    kind === 'stock' ? 'has a quantity' : 'has a pending pet without stock, which needs an open order';
  if (!mayDo(scope))
    throw new LoginError(
      `Line ${line} ${part}, and the API key lacks the scope ${scope}: ask an administrator to add it, or leave the column out with --map quantity=`,
    );
}

/** Returns the operation that completes a pet. */
function operationOf({ kind, quantity }: Completion, label: string): BatchOperation {
  return kind === 'stock'
    ? { method: 'PUT', path: `/store/inventory/{${label}}`, body: { quantity } }
    : { method: 'POST', path: '/store/orders', body: { petId: { $label: label }, quantity } };
}

function add(work: Work, prepared: Prepared): void {
  const index = work.rows++;
  work.source.push(prepared.row);
  if ('rejection' in prepared) {
    const { code, message } = prepared.rejection;
    work.rejections.push({ row: index, code, message });
    return;
  }
  if (prepared.operations.length === 0) {
    work.existing++;
    return;
  }
  work.pets.push(index);
  work.operations.push(...prepared.operations);
}
