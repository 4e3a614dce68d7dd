import { type CsvRow, completionOf, type Encoding } from '@petstore/pet-files';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useSession } from '../../app/session.ts';
import { askingToLeave } from '../../kit/asking-to-leave.ts';
import { inWords } from '../../kit/in-words.ts';
import { useToasts } from '../../kit/toasts.ts';
import { type Checked, checkRows, type GoodRow, namesOfShop } from './check.ts';
import { guessMapping, type Mapping, problemOf } from './columns.ts';
import { withCell } from './correct.ts';
import { type CsvFile, NotUtf8, readCsv } from './csv.ts';
import { type Journal, StoredJournal } from './journal.ts';
import { faultyOf, type ImportProgress, importRows } from './run.ts';
import { type Undoable, type UndoProgress, undoImport } from './undo.ts';

/** The import of this tab. */
interface ImportState {
  file?: CsvFile;
  /** The name of the file that is being read. */
  reading?: string;
  mapping: Mapping;
  createsCategories: boolean;
  /** Whether rows are imported whose animals exist. */
  importsExisting: boolean;
  /** The lines of rows that the user has corrected. */
  corrected: ReadonlySet<number>;
  /** What the last correction has changed in addition. */
  note?: string;
  progress?: ImportProgress;
  /** The import before the page was loaded again, if it can still be undone. */
  earlier?: Journal;
  /** Whether the import can be undone after the page was loaded again. */
  isKept?: boolean;
  /** Stops the import that is running. */
  stop?: () => void;
  /** Deletes what the import has created. */
  undo?: () => Promise<unknown>;
  undone?: UndoProgress;
  /** Why the file cannot be read. */
  error?: string;
  /** A file that is not UTF-8, which can be read in another encoding. */
  notUtf8?: { file: File; sample: readonly string[] } | undefined;
}

const start: ImportState = {
  mapping: [],
  createsCategories: false,
  importsExisting: false,
  corrected: new Set(),
};
const KEY = ['import'];
/** Not of this tab: the names are read again after a restore, and so the rows are checked again. */
const NAMES = [...KEY, 'names'];

/** The import of this tab. It is in the cache, so that it continues while the user works on another page. */
export function useImport() {
  const session = useSession();
  const toasts = useToasts();
  const { store, cache, can } = session;
  const { data: state } = useQuery({
    queryKey: KEY,
    queryFn: () => start,
    initialData: restored,
    meta: { isOfTab: true },
    gcTime: Number.POSITIVE_INFINITY,
  });
  const { file, mapping, createsCategories, importsExisting, progress } = state;
  const change = (part: Partial<ImportState>) =>
    cache.setQueryData<ImportState>(KEY, (now = start) => ({ ...now, ...part }));
  const replace = (next: ImportState) => cache.setQueryData<ImportState>(KEY, next);

  const readNames = () =>
    cache.fetchQuery({
      queryKey: NAMES,
      queryFn: () => namesOfShop(store, {}),
      gcTime: Number.POSITIVE_INFINITY,
    });
  const mappingProblem = file && problemOf(file.header, mapping);
  const check = useQuery({
    queryKey: [...KEY, 'check', file?.id, mapping, createsCategories],
    queryFn: async ({ signal }) => checkRows(await readNames(), file!, mapping, createsCategories, signal),
    enabled: file !== undefined && mappingProblem === undefined && progress === undefined,
    gcTime: 0,
    // What is being corrected stays where it is.
    placeholderData: keepPreviousData,
  });
  const chosen = check.data && rowsOf(check.data, importsExisting);
  const needs = (kind: 'stock' | 'order') =>
    chosen?.some(({ pet }) => completionOf(pet)?.kind === kind) === true;
  const problem =
    mappingProblem ??
    check.error?.message ??
    (needs('stock') && !can('inventory:write')
      ? 'Your API key lacks the scope inventory:write: leave out the column with the quantity'
      : needs('order') && !can('orders:write')
        ? 'Your API key lacks the scope orders:write, which animals on hold without stock need: leave out the column with the quantity'
        : undefined);

  const now = () => cache.getQueryData<ImportState>(KEY);

  async function choose(chosen: File, encoding?: Encoding): Promise<void> {
    const reading: ImportState = { ...start, reading: chosen.name };
    replace(reading);
    cache.removeQueries({ queryKey: NAMES });
    let next: ImportState;
    try {
      const file = await readCsv(chosen, encoding);
      next = { ...start, file, mapping: guessMapping(file.header) };
    } catch (error) {
      next = { ...start, error: (error as Error).message };
      if (error instanceof NotUtf8) next.notUtf8 = { file: chosen, sample: error.sample };
    }
    // The user may have chosen another file meanwhile.
    if (now() === reading) replace(next);
  }

  async function run(checked: Checked): Promise<void> {
    // The second click of a double click comes before the page is drawn again.
    if (now()?.progress) return;
    const { bad } = checked;
    const controller = new AbortController();
    const journal = StoredJournal.begin(file!.name);
    // The storage belongs to the next user then.
    const ignoreEnd = session.onEnd(() => journal.close());
    change({ stop: () => controller.abort() });
    const show = (progress: ImportProgress) => {
      journal.write(progress);
      change({ progress: { ...progress, rejected: [...bad, ...progress.rejected] }, isKept: journal.isKept });
    };
    const result = await askingToLeave(() =>
      importRows(session, rowsOf(checked, importsExisting), createsCategories, controller.signal, show),
    );
    ignoreEnd();
    let toast = 0;
    const undo = undoing(result, journal, () => toasts.endUndo(toast));
    const hasCreated = result.created.length > 0 || result.categories.length > 0;
    if (hasCreated) change({ undo });
    else journal.remove();
    const rejected = faultyOf(result.rejected).length + bad.length;
    toast = toasts.show({
      text: `Imported ${inWords(result.created.length, 'animal')}${rejected > 0 ? `, rejected ${inWords(rejected, 'row')}` : ''}`,
      tone: rejected === 0 ? 'done' : result.created.length > 0 ? 'warning' : 'problem',
      undo: hasCreated ? undo : undefined,
    });
  }

  /** Returns a function that undoes an import. It can be called from the page and from the message, and does it once. */
  function undoing(result: Undoable, journal: StoredJournal, onStart: () => void): () => Promise<string> {
    let running: Promise<string> | undefined;
    const show = (undone: UndoProgress) => {
      // The page may show another import by now.
      if (now()?.undo === undo) change({ undone });
    };
    async function start(): Promise<string> {
      onStart();
      const { deleted, kept, isComplete } = await askingToLeave(() => undoImport(session, result, show));
      if (isComplete) journal.remove();
      const text = `Deleted ${inWords(deleted, 'animal')} of the import`;
      return kept.length > 0 ? `${text}, but not all of it: ${kept[0]!.name}: ${kept[0]!.message}` : text;
    }
    function undo(): Promise<string> {
      running ??= start();
      return running;
    }
    return undo;
  }

  /** The state of a page that was loaded. */
  function restored(): ImportState {
    const found = StoredJournal.read();
    if (!found) return start;
    const { journal, stored } = found;
    return { ...start, earlier: journal, undo: undoing(journal, stored, () => {}) };
  }

  /** Replaces the text of a cell, and checks the rows again. */
  function correct(row: CsvRow, column: number, text: string): void {
    const { file, mapping, corrected } = now()!;
    // A row has only its first problem: that of another row with the same text shows it as well.
    const isWrong = check.data?.bad.some(
      ({ row: { cells }, field }) => field === mapping[column] && cells[column] === row.cells[column],
    );
    const { lines, file: next } = withCell(file!, mapping, row, column, text, isWrong === true);
    const others = lines.length - 1;
    change({
      file: next,
      corrected: corrected.union(new Set(lines)),
      note: others > 0 ? `“${row.cells[column]}” is “${text}” in ${inWords(others, 'row')} more, too.` : '',
    });
  }

  return {
    ...state,
    checked: problem === undefined ? check.data : undefined,
    isChecking: check.isFetching,
    problem,
    choose,
    refuseEncoding: () => change({ notUtf8: undefined }),
    correct,
    setMapping: (mapping: Mapping) => change({ mapping, corrected: start.corrected }),
    setCreatesCategories: (createsCategories: boolean) => change({ createsCategories }),
    setImportsExisting: (importsExisting: boolean) => change({ importsExisting }),
    run,
  };
}

/** The rows that are imported, in the order of the file. */
export function rowsOf({ good, existing }: Checked, importsExisting: boolean): readonly GoodRow[] {
  if (!importsExisting) return good;
  return [...good, ...existing].sort((a, b) => a.row.line - b.row.line);
}
