import { CategoryNames, completionOf, ExistingPets, petOf, Rejection, RowNames } from '@petstore/pet-files';
import type { Context } from '../command.ts';
import { exitCodes, PartialError } from '../failure.ts';
import { checkScope, type Needs } from './batch-builder.ts';
import { columnsOf } from './columns.ts';
import { accountOf, creationOf, type ImportOptions, mayDo, type Summary } from './import-pets.ts';
import { type Row, rowsOf } from './rows.ts';
import type { Source } from './source.ts';

/** Rejected rows that are printed. */
const SHOWN = 20;

/** Checks the rows of a file without writing anything. Yields the summary, and throws a `PartialError` if rows break a rule. */
export async function* checkPets(
  context: Context,
  source: Source,
  { map, createCategories, skipExisting }: ImportOptions,
): AsyncGenerator<Summary> {
  const { store, calls, fail, note } = context;
  const startedAt = performance.now();
  const columns = columnsOf(source, map);
  const account = await accountOf(context);
  const needs: Needs = {
    categories: new CategoryNames(store, calls, creationOf(createCategories)),
    existing: skipExisting ? new RowNames(new ExistingPets(store, calls)) : undefined,
    mayDo: scope => mayDo(account, scope),
  };
  let rejected = 0;
  let skipped = 0;
  for await (const row of rowsOf(source, columns, 0, calls.signal)) {
    const problem = await problemOf(row, needs);
    if (problem === 'exists') skipped++;
    if (!problem || problem === 'exists') continue;
    rejected++;
    if (rejected <= SHOWN) fail(new Error(`Line ${row.line}: ${problem.message} (${problem.code})`));
  }
  if (rejected > SHOWN) note(`${rejected - SHOWN} more rows break a rule`);
  note(
    'Nothing was written. A dry run cannot know what changes before the import, such as a category that is deleted, and whether the quota of the API key is sufficient',
  );
  yield {
    file: source.file,
    rows: source.rows,
    created: 0,
    rejected,
    incomplete: 0,
    skipped,
    rejectedFile: null,
    dryRun: true,
    seconds: Math.round((performance.now() - startedAt) / 100) / 10,
  };
  if (rejected > 0)
    throw new PartialError(
      `${rejected} of ${source.rows} rows would be rejected: see above`,
      exitCodes.partial,
    );
}

/** Returns why a row would not be imported; `undefined` if it would be. */
async function problemOf(
  { line, values }: Row,
  { categories, existing, mayDo }: Needs,
): Promise<Rejection | 'exists' | undefined> {
  try {
    if (typeof values === 'string') throw new Rejection('invalid_request', values);
    const pet = petOf(values);
    const { name, category } = pet;
    await categories.check(category);
    const found = (await categories.known(category)) ?? category;
    if (await existing?.findOrAdd(name, found)) return 'exists';
    const completion = completionOf(pet);
    if (completion) checkScope(completion, line, mayDo);
    return undefined;
  } catch (error) {
    if (error instanceof Rejection) return error;
    throw error;
  }
}
