import { useElementScrollRestoration } from '@tanstack/react-router';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, type MouseEvent, memo, type ReactNode, useEffect, useRef } from 'react';
import { useIsPhone } from './media.ts';

export interface Column<T> {
  name: string;
  header: ReactNode;
  cell: (item: T) => ReactNode;
  /** Whether the list is sorted by this column. */
  sorted?: 'ascending' | 'descending' | undefined;
}

interface TableProps<T> {
  label: string;
  /** Decides the widths of the columns, by the CSS of the page. */
  className: string;
  /** The same array as long as nothing in it changes: otherwise scrolling draws all visible rows again. */
  columns: readonly Column<T>[];
  rows: readonly T[];
  idOf: (item: T) => number;
  /** Items that other clients have deleted. */
  gone: ReadonlySet<number>;
  /** The item that was opened last. */
  current: number | undefined;
  onOpen: (item: T) => void;
  /** Is called when the end is near. */
  onEnd: () => void;
}

const ROW = 52;
/** On phones a row has two lines. */
const PHONE_ROW = 72;
/** How many rows before the end the next page is requested. */
const NEAR = 40;

/** A table of any length. Only the rows that are visible are elements. Arrow keys move between rows, Enter opens one. */
export function Table<T>({
  label,
  className,
  columns,
  rows,
  idOf,
  gone,
  current,
  onOpen,
  onEnd,
}: TableProps<T>) {
  const scroller = useRef<HTMLDivElement>(null);
  const rowHeight = useIsPhone() ? PHONE_ROW : ROW;
  const position = useElementScrollRestoration({ id: label });
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    getItemKey: i => idOf(rows[i]!),
    overscan: 8,
    initialOffset: position?.scrollY ?? 0,
  });
  const items = virtualizer.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;

  // biome-ignore lint/correctness/useExhaustiveDependencies: the virtualizer keeps the old heights otherwise
  useEffect(() => virtualizer.measure(), [virtualizer, rowHeight]);
  useEffect(() => {
    if (last >= rows.length - NEAR) onEnd();
  }, [last, rows.length, onEnd]);

  function focusRow(index: number): void {
    if (index < 0 || index >= rows.length) return;
    virtualizer.scrollToIndex(index);
    requestAnimationFrame(() => {
      scroller.current?.querySelector<HTMLElement>(`[data-index="${index}"]`)?.focus({ preventScroll: true });
    });
  }

  /** The row of an event, and its index. All rows share one listener, so that a row is drawn again only if it changes. */
  function rowOf({ target }: { target: EventTarget }) {
    const row = target instanceof Element ? target.closest<HTMLElement>('[data-index]') : null;
    return { row, index: Number(row?.dataset.index) };
  }

  function onClick(event: MouseEvent): void {
    const { row, index } = rowOf(event);
    if (row) onOpen(rows[index]!);
  }

  function onKey(event: KeyboardEvent): void {
    const { row, index } = rowOf(event);
    const page = Math.max(1, Math.floor((scroller.current?.clientHeight ?? ROW) / rowHeight) - 1);
    const moves: Record<string, number> = {
      ArrowDown: index + 1,
      ArrowUp: index - 1,
      PageDown: Math.min(index + page, rows.length - 1),
      PageUp: Math.max(index - page, 0),
      Home: 0,
      End: rows.length - 1,
    };
    const to = moves[event.key];
    if (!row || (event.target !== row && to === undefined)) return;
    if (to !== undefined) focusRow(to);
    else if (event.key === 'Enter') onOpen(rows[index]!);
    else return;
    event.preventDefault();
  }

  const currentIsDrawn = items.some(({ index }) => idOf(rows[index]!) === current);
  return (
    // biome-ignore lint/a11y/useSemanticElements: a table element cannot leave out rows
    <div
      role="grid"
      aria-label={label}
      aria-rowcount={rows.length + 1}
      className={`table ${className}`}
      tabIndex={-1}
    >
      {/* biome-ignore lint/a11y/useSemanticElements: as above */}
      <div role="row" className="table-row table-head" aria-rowindex={1} tabIndex={-1}>
        {columns.map(({ name, header, sorted }) => (
          // biome-ignore lint/a11y/useSemanticElements: as above
          <div key={name} role="columnheader" data-column={name} aria-sort={sorted ?? 'none'} tabIndex={-1}>
            {header}
          </div>
        ))}
      </div>
      {/* biome-ignore lint/a11y/useSemanticElements: as above */}
      <div role="rowgroup" ref={scroller} className="table-body" data-scroll-restoration-id={label}>
        {/* biome-ignore lint/a11y/noStaticElementInteractions: its rows receive the focus */}
        <div
          role="presentation"
          className="table-space"
          style={{ height: virtualizer.getTotalSize() }}
          onClick={onClick}
          onKeyDown={onKey}
        >
          {items.map(({ index, key, start }) => {
            const item = rows[index]!;
            const id = idOf(item);
            return (
              <Row
                key={key}
                item={item}
                index={index}
                start={start}
                height={rowHeight}
                columns={columns}
                isGone={gone.has(id)}
                isCurrent={id === current}
                isReachable={currentIsDrawn ? id === current : index === items[0]?.index}
              />
            );
          })}
        </div>
      </div>
    </div>
  );
}

interface RowProps<T> {
  item: T;
  index: number;
  start: number;
  height: number;
  columns: readonly Column<T>[];
  isGone: boolean;
  isCurrent: boolean;
  /** Whether Tab reaches it: one row at a time. */
  isReachable: boolean;
}

const Row = memo(function Row<T>(props: RowProps<T>) {
  const { item, index, start, height, columns, isGone, isCurrent, isReachable } = props;
  return (
    // biome-ignore lint/a11y/useSemanticElements: as above
    <div
      role="row"
      aria-rowindex={index + 2}
      data-index={index}
      data-gone={isGone || undefined}
      data-current={isCurrent || undefined}
      className="table-row"
      tabIndex={isReachable ? 0 : -1}
      style={{ height, transform: `translateY(${start}px)` }}
    >
      {columns.map(({ name, cell }) => (
        // biome-ignore lint/a11y/useSemanticElements: as above
        <div key={name} role="gridcell" data-column={name} tabIndex={-1}>
          {cell(item)}
        </div>
      ))}
    </div>
  );
}) as <T>(props: RowProps<T>) => ReactNode;
