import { completionOf, type Encoding } from '@petstore/pet-files';
import { useQuery } from '@tanstack/react-query';
import { useSession } from '../../app/session.ts';
import { showToast } from '../../kit/toasts.ts';
import { askingToLeave } from '../batches.ts';
import { type Checked, checkRows } from './check.ts';
import { guessMapping, type Mapping, problemOf } from './columns.ts';
import { type CsvFile, NotUtf8, readCsv } from './csv.ts';
import { type ImportProgress, importRows } from './run.ts';

/** The import of this tab. */
interface ImportState {
  file?: CsvFile;
  /** The name of the file that is being read. */
  reading?: string;
  mapping: Mapping;
  createsCategories: boolean;
  progress?: ImportProgress;
  /** Stops the import that is running. */
  stop?: () => void;
  /** Why the file cannot be read. */
  error?: string;
  /** A file that is not UTF-8, which can be read in another encoding. */
  notUtf8?: File;
}

const start: ImportState = { mapping: [], createsCategories: false };
const KEY = ['import'];

/** The import of this tab. It is in the cache, so that it continues while the user works on another page. */
export function useImport() {
  const session = useSession();
  const { store, cache, can } = session;
  const { data: state } = useQuery({
    queryKey: KEY,
    queryFn: () => start,
    initialData: start,
    gcTime: Number.POSITIVE_INFINITY,
  });
  const { file, mapping, createsCategories, progress } = state;
  const change = (part: Partial<ImportState>) =>
    cache.setQueryData<ImportState>(KEY, (now = start) => ({ ...now, ...part }));
  const replace = (next: ImportState) => cache.setQueryData<ImportState>(KEY, next);

  const mappingProblem = file && problemOf(mapping);
  const check = useQuery({
    queryKey: [...KEY, 'check', file?.id, mapping, createsCategories],
    queryFn: ({ signal }) => checkRows(store, file!, mapping, createsCategories, signal),
    enabled: file !== undefined && mappingProblem === undefined && progress === undefined,
    gcTime: 0,
  });
  const needs = (kind: 'stock' | 'order') =>
    check.data?.good.some(({ pet }) => completionOf(pet)?.kind === kind) === true;
  const problem =
    mappingProblem ??
    check.error?.message ??
    (needs('stock') && !can('inventory:write')
      ? 'Your API key lacks the scope inventory:write: leave out the column with the quantity'
      : needs('order') && !can('orders:write')
        ? 'Your API key lacks the scope orders:write, which pending animals without stock need: leave out the column with the quantity'
        : undefined);

  const now = () => cache.getQueryData<ImportState>(KEY);

  async function choose(chosen: File, encoding?: Encoding): Promise<void> {
    const reading: ImportState = { ...start, reading: chosen.name };
    replace(reading);
    let next: ImportState;
    try {
      const file = await readCsv(chosen, encoding);
      next = { ...start, file, mapping: guessMapping(file.header) };
    } catch (error) {
      next = { ...start, error: (error as Error).message };
      if (error instanceof NotUtf8) next.notUtf8 = chosen;
    }
    // The user may have chosen another file meanwhile.
    if (now() === reading) replace(next);
  }

  async function run({ good, bad }: Checked): Promise<void> {
    // The second click of a double click comes before the page is drawn again.
    if (now()?.progress) return;
    const controller = new AbortController();
    change({ stop: () => controller.abort() });
    const show = (progress: ImportProgress) =>
      change({ progress: { ...progress, rejected: [...bad, ...progress.rejected] } });
    const { created, rejected } = await askingToLeave(() =>
      importRows(session, good, createsCategories, controller.signal, show),
    );
    const count = rejected.length + bad.length;
    showToast({
      text: `Imported ${created.toLocaleString()} animal${created === 1 ? '' : 's'}${count > 0 ? `, rejected ${count.toLocaleString()} row${count === 1 ? '' : 's'}` : ''}`,
      tone: count > 0 ? 'problem' : 'done',
    });
  }

  return {
    ...state,
    checked: problem === undefined ? check.data : undefined,
    isChecking: check.isFetching,
    problem,
    choose,
    setMapping: (mapping: Mapping) => change({ mapping }),
    setCreatesCategories: (createsCategories: boolean) => change({ createsCategories }),
    run,
    reset: () => replace(start),
  };
}
