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

/** Which rows are selected, and how the user changes that. */
export interface Selection<T> {
  ids: ReadonlySet<number>;
  /** How many of the rows are selected: a row that was deleted can still be among the IDs. */
  count: number;
  /** The name of a row, for its checkbox. */
  nameOf: (item: T) => string;
  /** With `isRange`, all rows from the one that was selected last up to this one. */
  toggle: (id: number, isRange: boolean) => void;
  toggleAll: () => void;
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
  /** Without it rows cannot be selected. */
  selection?: Selection<T> | undefined;
}

const ROW = 52;
/** On phones a row has two lines. */
const PHONE_ROW = 72;
/** How many rows before the end the next page is requested. */
const NEAR = 40;

/**
 * A table of any length. Only the rows that are visible are elements. Arrow keys move between rows, Enter opens one. The space bar
 * selects one, Shift with a click, an arrow or the space bar a range, and Ctrl+A or ⌘A all that were read.
 */
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
  selection,
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
    if (!row) return;
    const isBox = event.target instanceof Element && event.target.closest('[data-column="selection"]');
    if (selection && isBox) selection.toggle(idOf(rows[index]!), event.shiftKey);
    else onOpen(rows[index]!);
  }

  /** Changes the selection by a key. Returns whether the key has done all that it does. */
  function selectByKey(
    { key, shiftKey, ctrlKey, metaKey, target }: KeyboardEvent,
    index: number,
    to?: number,
  ): boolean {
    if (!selection) return false;
    const isRow = target instanceof Element && target.matches('[data-index]');
    if (key === 'a' && (ctrlKey || metaKey)) selection.toggleAll();
    else if (key === ' ' && isRow) selection.toggle(idOf(rows[index]!), shiftKey);
    else {
      const next = shiftKey && to !== undefined ? rows[to] : undefined;
      if (next) {
        if (!selection.ids.has(idOf(rows[index]!))) selection.toggle(idOf(rows[index]!), false);
        selection.toggle(idOf(next), true);
      }
      return false;
    }
    return true;
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
    if (row && selectByKey(event, index, to)) {
      event.preventDefault();
      return;
    }
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
      aria-multiselectable={selection !== undefined}
      data-selectable={selection !== undefined || undefined}
      className={`table ${className}`}
      tabIndex={-1}
    >
      {/* biome-ignore lint/a11y/useSemanticElements: as above */}
      <div role="row" className="table-row table-head" aria-rowindex={1} tabIndex={-1}>
        {selection && (
          // biome-ignore lint/a11y/useSemanticElements: as above
          <div role="columnheader" data-column="selection" tabIndex={-1}>
            <input
              type="checkbox"
              aria-label="Select all rows that are loaded"
              checked={rows.length > 0 && selection.count === rows.length}
              ref={box => {
                if (box) box.indeterminate = selection.count > 0 && selection.count < rows.length;
              }}
              onChange={selection.toggleAll}
            />
          </div>
        )}
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
                name={selection?.nameOf(item)}
                isSelected={selection?.ids.has(id)}
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
  /** The name of the row, for its checkbox. */
  name: string | undefined;
  /** `undefined` if it cannot be selected. */
  isSelected: boolean | undefined;
  isGone: boolean;
  isCurrent: boolean;
  /** Whether Tab reaches it: one row at a time. */
  isReachable: boolean;
}

const Row = memo(function Row<T>(props: RowProps<T>) {
  const { item, index, start, height, columns, name, isSelected, isGone, isCurrent, isReachable } = props;
  return (
    // biome-ignore lint/a11y/useSemanticElements: as above
    <div
      role="row"
      aria-rowindex={index + 2}
      aria-selected={isSelected}
      data-index={index}
      data-gone={isGone || undefined}
      data-current={isCurrent || undefined}
      className="table-row"
      tabIndex={isReachable ? 0 : -1}
      style={{ height, transform: `translateY(${start}px)` }}
    >
      {isSelected !== undefined && (
        // biome-ignore lint/a11y/useSemanticElements: as above
        <div role="gridcell" data-column="selection" tabIndex={-1}>
          {/* The listener of all rows changes the selection. */}
          <input type="checkbox" aria-label={`Select ${name}`} checked={isSelected} readOnly tabIndex={-1} />
        </div>
      )}
      {columns.map(({ name, cell }) => (
        // biome-ignore lint/a11y/useSemanticElements: as above
        <div key={name} role="gridcell" data-column={name} tabIndex={-1}>
          {cell(item)}
        </div>
      ))}
    </div>
  );
}) as <T>(props: RowProps<T>) => ReactNode;
