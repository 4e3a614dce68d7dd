import type { Context } from '../command.ts';
import { exitCodes, PartialError } from '../failure.ts';
import { CategoryNames } from './category-names.ts';
import { columnsOf } from './columns.ts';
import type { ImportOptions, Summary } from './import-pets.ts';
import { petOf, Rejection } from './pet-rules.ts';
import { type Row, rowsOf } from './rows.ts';
import type { Source } from './source.ts';

/** Rejected rows that are printed. */
const SHOWN = 20;

/** Checks the rows of a file without writing anything. Yields the summary, and throws a `PartialError` if rows break a rule. */
export async function* checkPets(
  { store, calls, fail, note }: Context,
  source: Source,
  { map, createCategories }: ImportOptions,
): AsyncGenerator<Summary> {
  const startedAt = performance.now();
  const columns = columnsOf(source, map);
  const categories = new CategoryNames(store, calls, false);
  let rejected = 0;
  for await (const row of rowsOf(source, columns, 0)) {
    const problem = await problemOf(row, categories, createCategories);
    if (!problem) continue;
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
    skipped: 0,
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

async function problemOf(
  { values }: Row,
  categories: CategoryNames,
  createsCategories: boolean,
): Promise<Rejection | undefined> {
  try {
    if (typeof values === 'string') throw new Rejection('invalid_request', values);
    const { category } = petOf(values);
    if (typeof category === 'string') {
      if (!createsCategories) await categories.find(category);
    } else if (!(await categories.has(category)))
      throw new Rejection('unknown_category', `There is no category ${category}`);
    return undefined;
  } catch (error) {
    if (error instanceof Rejection) return error;
    throw error;
  }
}
