import { setFlagsFromString } from 'node:v8';
import type { Account, BatchResult } from '@petstore/client';
import { type CategoryCreation, CategoryNames, ExistingPets, RowNames } from '@petstore/pet-files';
import type { Context } from '../command.ts';
import { exitCodes, LoginError, PartialError } from '../failure.ts';
import { type Progress, startProgress } from '../progress.ts';
import { BatchBuilder } from './batch-builder.ts';
import { BatchSender, type Connect, EXPIRED, inDoubt } from './batch-sender.ts';
import { columnsOf } from './columns.ts';
import { type Batch, Journal, type SentBatch } from './journal.ts';
import { lock } from './lock.ts';
import { RejectedRows } from './rejected-rows.ts';
import { type Row, rowsOf } from './rows.ts';
import type { Source } from './source.ts';

/** More operations in a batch would be hardly faster, and would make others wait longer. */
const MAX_OPERATIONS = 500;

export interface ImportOptions {
  map: readonly string[];
  createCategories: boolean;
  /** Whether rows are left out whose name and category a pet has. */
  skipExisting: boolean;
  /** What happens to a batch that the service may have executed, and does not know any more. */
  inDoubt: 'send' | 'skip' | undefined;
}

export function creationOf(creates: boolean): CategoryCreation {
  return { creates, howTo: 'use --create-categories' };
}

/** What an import has done. */
export interface Summary {
  file: string;
  rows: number;
  created: number;
  rejected: number;
  /** Pets that were created without the stock of their rows. */
  incomplete: number;
  /** Rows that `--skip-existing` or `--in-doubt skip` left out. */
  skipped: number;
  rejectedFile: string | null;
  dryRun: boolean;
  seconds: number;
}

/** Imports the pets of a file. Yields the summary, and then throws a `PartialError` if rows were rejected. */
export async function* importPets(
  context: Context,
  source: Source,
  options: ImportOptions,
): AsyncGenerator<Summary> {
  // Each batch is garbage soon. V8 would use 100 MB more rather than collect it.
  setFlagsFromString('--semi-space-growth-factor=1');
  const columns = columnsOf(source, options.map);
  const account = await accountOf(context);
  const unlock = lock(source.file);
  try {
    const current = new Import(context, source, options, account);
    const summary = await current.run(from => rowsOf(source, columns, from, context.calls.signal));
    yield summary;
    // Now the summary is printed. A process that is killed before would otherwise import the file again when it is run again.
    current.end();
    const { rejected, incomplete, rejectedFile } = summary;
    if (rejected > 0)
      throw new PartialError(
        `${rejected} of ${source.rows} rows were rejected: correct them in ${rejectedFile}, and import that file`,
        exitCodes.partial,
      );
    if (incomplete > 0)
      throw new PartialError(
        `${incomplete} pets were created without their stock: see above`,
        exitCodes.partial,
      );
  } finally {
    unlock();
  }
}

/** An import from its start, or from where an earlier process ended. */
class Import {
  readonly #context: Context;
  readonly #source: Source;
  readonly #options: ImportOptions;
  readonly #account: Account;
  readonly #journal: Journal;
  readonly #rejected: RejectedRows;
  readonly #progress: Progress;
  readonly #sender: BatchSender;

  constructor(context: Context, source: Source, options: ImportOptions, account: Account) {
    this.#context = context;
    this.#source = source;
    this.#options = options;
    this.#account = account;
    const identity = {
      url: context.connection.url,
      sha256: source.sha256,
      map: options.map,
      format: source.format,
      encoding: source.encoding,
      createCategories: options.createCategories,
      skipExisting: options.skipExisting,
      raw: source.isRaw,
    };
    const earlier = Journal.open(source.file, identity);
    this.#journal = earlier ?? Journal.begin(source.file, identity, account.keyId);
    this.#rejected = new RejectedRows(source, this.#journal.state.rejectedBytes);
    const { done, startedAt } = this.#journal.state;
    if (earlier) context.note(`Continuing the import of ${startedAt} after ${done} of ${source.rows} rows`);
    this.#progress = startProgress(context, { total: source.rows, done, unit: 'rows' });
    const connect: Connect = ({ fetch }) => context.connect({ fetch, note: this.#progress.note });
    this.#sender = new BatchSender(connect, this.#journal, context.calls);
  }

  async run(rowsFrom: (index: number) => AsyncIterator<Row>): Promise<Summary> {
    const startedAt = performance.now();
    try {
      const rows = rowsFrom(this.#journal.state.done);
      await this.#finishSent(rows);
      this.#journal.save({ keyId: this.#account.keyId });
      const { store } = this.#sender;
      const { calls } = this.#context;
      const { createCategories, skipExisting } = this.#options;
      const builder = new BatchBuilder(rows, {
        categories: new CategoryNames(store, calls, creationOf(createCategories)),
        existing: skipExisting ? new RowNames(new ExistingPets(store, calls)) : undefined,
        mayDo: scope => mayDo(this.#account, scope),
      });
      for (let work = await builder.take(this.#size()); work; work = await builder.take(this.#size())) {
        const { source, ...batch } = work;
        const results = batch.operations.length > 0 ? (await this.#sender.send(batch)).results : [];
        this.#finish(batch, source, results);
      }
    } catch (error) {
      this.#progress.stop();
      const { done } = this.#journal.state;
      this.#context.note(
        `${done} of ${this.#source.rows} rows are done. To continue, run the same command again`,
      );
      throw error;
    } finally {
      this.#progress.stop();
      this.#rejected.close();
    }
    const { created, rejected, incomplete, skipped } = this.#journal.state;
    return {
      file: this.#source.file,
      rows: this.#source.rows,
      created,
      rejected,
      incomplete,
      skipped,
      rejectedFile: rejected > 0 ? this.#rejected.path : null,
      dryRun: false,
      seconds: Math.round((performance.now() - startedAt) / 100) / 10,
    };
  }

  /** Removes the journal: the same command then imports the file again. */
  end(): void {
    this.#journal.remove();
  }

  /** Finishes the batch whose response an earlier process did not receive. */
  async #finishSent(rows: AsyncIterator<Row>): Promise<void> {
    const { sent } = this.#journal.state;
    if (!sent) return;
    const reason = this.#reasonOfDoubt(sent);
    const { inDoubt: choice } = this.#options;
    if (reason && !choice) throw inDoubt(sent, reason);
    // Its rows are read again, and sent with those that follow.
    if (reason && choice === 'send') return this.#journal.save({ sent: null });
    const source: Row[] = [];
    while (source.length < sent.rows) source.push((await rows.next()).value);
    const results = reason ? 'skipped' : (await this.#sender.sendAgain(sent)).results;
    this.#finish(sent, source, results);
  }

  /** Why the service would execute a batch again: only the key that sent it can receive its outcome, and not for ever. */
  #reasonOfDoubt(sent: SentBatch): string | undefined {
    const { keyId } = this.#journal.state;
    const current = this.#account.keyId;
    if (keyId !== current) return `API key ${keyId} sent them, and this is API key ${current}`;
    return this.#sender.isExpired(sent) ? EXPIRED : undefined;
  }

  /** Stores what became of the rows of a batch. */
  #finish(batch: Batch, source: readonly Row[], results: readonly BatchResult[] | 'skipped'): void {
    const { state } = this.#journal;
    const isSkipped = results === 'skipped';
    const outcome = isSkipped ? { rejections: [], stockErrors: [] } : outcomeOf(batch, results);
    const rejections = [...batch.rejections, ...outcome.rejections].sort((a, b) => a.row - b.row);
    this.#rejected.add(rejections.map(({ row, ...reason }) => ({ row: source[row]!, ...reason })));
    for (const { row, message } of outcome.stockErrors)
      this.#context.fail(new Error(`Line ${source[row]!.line}: ${message}`));
    this.#journal.save({
      done: state.done + batch.rows,
      created: state.created + (isSkipped ? 0 : batch.pets.length - outcome.rejections.length),
      rejected: state.rejected + rejections.length,
      incomplete: state.incomplete + outcome.stockErrors.length,
      skipped: state.skipped + batch.existing + (isSkipped ? batch.pets.length : 0),
      rejectedBytes: this.#rejected.sync(),
      sent: null,
    });
    this.#progress.update(this.#journal.state.done);
  }

  /**
   * The number of operations of the next batch: what is left of the present minute or day, and at most half of what the plan
   * has, so that other programs with the same key can make requests, too.
   */
  #size(): number {
    const { minute, day } = this.#account.windows;
    const most = Math.min(MAX_OPERATIONS, Math.max(1, Math.floor(Math.min(minute.limit, day.limit) / 2)));
    const { windows } = this.#sender.store.limits;
    const known = windows.length > 0 ? windows : [minute, day];
    const left = Math.min(...known.map(({ remaining }) => remaining));
    return left > 0 ? Math.min(most, left) : most;
  }
}

interface Outcome {
  rejections: Batch['rejections'];
  stockErrors: { row: number; message: string }[];
}

/** Assigns the results of a batch to its rows. */
function outcomeOf({ operations, pets }: Batch, results: readonly BatchResult[]): Outcome {
  const outcome: Outcome = { rejections: [], stockErrors: [] };
  let pet = -1;
  for (const [i, { path, body }] of operations.entries()) {
    const { error } = results[i]!;
    const createsPet = path === '/pets';
    if (createsPet) pet++;
    if (!error) continue;
    const row = pets[pet]!;
    const { code, message } = error;
    if (createsPet) outcome.rejections.push({ row, code, message });
    else if (!results[i - 1]!.error) {
      const id = results[i - 1]!.body!.id;
      const remedy =
        path === '/store/orders' ? `orders create ${id}` : `stock update ${id} ${body!.quantity}`;
      outcome.stockErrors.push({
        row,
        message: `Pet ${id} was created without its stock: ${message}. Run \`petstore ${remedy}\``,
      });
    }
  }
  return outcome;
}

/** Reads the account. Throws a `LoginError` if its key may not create pets: otherwise all rows would be rejected. */
export async function accountOf({ store, calls }: Context): Promise<Account> {
  const account = await store.account.get(calls);
  if (!mayDo(account, 'pets:write'))
    throw new LoginError('The API key lacks the scope pets:write: ask an administrator to add it');
  return account;
}

/** Whether an API key has a scope. */
export const mayDo = ({ scopes }: Account, scope: Account['scopes'][number]) =>
  scopes.includes(scope) || scopes.includes('admin');
