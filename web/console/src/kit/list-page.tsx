import { Link, Outlet, useElementScrollRestoration } from '@tanstack/react-router';
import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { Button } from './button.tsx';
import { Empty } from './empty.tsx';
import { useKeptFocus } from './kept-focus.ts';
import type { PictureName } from './picture.tsx';
import { type Column, type Selection, Table } from './table.tsx';

interface ListPageProps<T> {
  title: string;
  /** Decides the widths of the columns, by the CSS of the page. */
  className: string;
  /** What `useListPage` returns, as are the next three. */
  list: {
    rows: readonly T[];
    gone: ReadonlySet<number>;
    total: string | undefined;
    waiting: number;
    /** Whether there are more new items than are counted. */
    hasMoreWaiting?: boolean;
    isLoading: boolean;
    /** Whether the rows are still those of the filters before. */
    isOld?: boolean;
    error: Error | null;
    showWaiting: () => unknown;
    loadMore: () => void;
    retry: () => unknown;
  };
  columns: readonly Column<T>[];
  idOf: (item: T) => number;
  /** The item that was opened last. */
  current: number | undefined;
  onOpen: (item: T) => void;
  /** The button that creates an item. */
  action: ReactNode;
  filters: ReactNode;
  /** What the search field of the filters has found, for pages that have one. */
  searched?: string | undefined;
  selection?: Selection<T> | undefined;
  /** What can be done with the selected rows. It is below the table, so that no row moves when it appears. */
  selectionBar?: ReactNode;
  /** What is shown without any item, and what to do then. Without a picture, filters have hidden all items. */
  empty: { picture?: PictureName; title: string; hint: string; action?: ReactNode };
}

/** A page with a list. The panels of its items are its child routes. */
export function ListPage<T>({
  title,
  list,
  action,
  filters,
  searched,
  selectionBar,
  empty,
  ...table
}: ListPageProps<T>) {
  const page = useRef<HTMLElement>(null);
  const isEmpty = !list.error && !list.isLoading && list.rows.length === 0;
  // The middle of an empty page has the button for its first item.
  const isFirst = isEmpty && empty.picture !== undefined && empty.action !== undefined;
  const { onKeyDown } = useSearchKeys({ page, list, searched, onOpen: table.onOpen });
  useNewRows(title, list);
  const keptFocus = useKeptFocus(page);
  return (
    <section ref={page} className="page" aria-label={title} {...keptFocus}>
      <header className="page-header">
        <h1>
          {title} <small>{list.total}</small>
        </h1>
        {!isFirst && action}
      </header>
      <search className="filters" onKeyDown={onKeyDown}>
        {filters}
      </search>
      <div className="waiting" role="status">
        {list.waiting > 0 && (
          <Button onClick={list.showWaiting}>
            {list.waiting.toLocaleString()}
            {list.hasMoreWaiting && '+'} new
          </Button>
        )}
      </div>
      {list.error ? (
        <Empty picture="problem" title="The list cannot be shown">
          <p>{list.error.message}</p>
          <Button onClick={list.retry}>Try again</Button>
        </Empty>
      ) : isEmpty ? (
        <Empty picture={empty.picture ?? 'search'} title={empty.title}>
          <p>{empty.hint}</p>
          {empty.action}
          {!empty.picture && (
            <Link className="button" to="." search={{}}>
              Clear the filters
            </Link>
          )}
        </Empty>
      ) : (
        <Table
          label={title}
          rows={list.rows}
          isLoading={list.isLoading}
          gone={list.gone}
          onEnd={list.loadMore}
          {...table}
        />
      )}
      {selectionBar}
      <Outlet />
    </section>
  );
}

/** Shows the rows that are new since an earlier visit, unless Back or a reload leads to a place further down, which must not move. */
function useNewRows(
  title: string,
  { waiting, showWaiting }: { waiting: number; showWaiting: () => unknown },
): void {
  const position = useElementScrollRestoration({ id: title });
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when the page opens
  useEffect(() => {
    if (waiting > 0 && !position?.scrollY) showWaiting();
  }, []);
}

interface SearchKeysOptions<T> extends Pick<ListPageProps<T>, 'list' | 'searched' | 'onOpen'> {
  page: { current: HTMLElement | null };
}

/** In the search field ↓ leads to the rows, and Enter opens the row that was found, or leads to the first of several. */
function useSearchKeys<T>({ page, list, searched = '', onOpen }: SearchKeysOptions<T>) {
  /** The text for which Enter was pressed, until its rows are there. */
  const [entered, setEntered] = useState<string>();
  const isReady = entered === searched && !list.isLoading && !list.isOld;

  const focusRow = (selector: string) => page.current?.querySelector<HTMLElement>(selector)?.focus();

  // biome-ignore lint/correctness/useExhaustiveDependencies: only the rows of the text are waited for
  useEffect(() => {
    if (!isReady) return;
    setEntered(undefined);
    if (list.rows.length === 1) onOpen(list.rows[0]!);
    else focusRow('[data-index]');
  }, [isReady]);

  function onKeyDown(event: KeyboardEvent): void {
    const { key, target, nativeEvent } = event;
    // The key belongs to the input method.
    if (nativeEvent.isComposing) return;
    if (!(target instanceof HTMLInputElement) || target.type !== 'search') return;
    if (key === 'ArrowDown') {
      focusRow('[data-index][tabindex="0"]');
      event.preventDefault();
    } else if (key === 'Enter') setEntered(target.value.trim());
    else setEntered(undefined);
  }
  return { onKeyDown };
}
