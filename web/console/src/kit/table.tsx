import { useElementScrollRestoration } from '@tanstack/react-router';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, type ReactNode, useEffect, useRef } from 'react';
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

  function onKey(event: KeyboardEvent, index: number): void {
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
    if (to !== undefined) focusRow(to);
    else if (event.key === 'Enter' && event.target === event.currentTarget) onOpen(rows[index]!);
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
        <div role="presentation" style={{ height: virtualizer.getTotalSize() }} className="table-space">
          {items.map(({ index, key, start }) => {
            const item = rows[index]!;
            const id = idOf(item);
            const isReachable = currentIsDrawn ? id === current : index === items[0]?.index;
            return (
              // biome-ignore lint/a11y/useSemanticElements: as above
              <div
                key={key}
                role="row"
                aria-rowindex={index + 2}
                data-index={index}
                data-gone={gone.has(id) || undefined}
                data-current={id === current || undefined}
                className="table-row"
                tabIndex={isReachable ? 0 : -1}
                style={{ height: rowHeight, transform: `translateY(${start}px)` }}
                onClick={() => onOpen(item)}
                onKeyDown={event => onKey(event, index)}
              >
                {columns.map(({ name, cell }) => (
                  // biome-ignore lint/a11y/useSemanticElements: as above
                  <div key={name} role="gridcell" data-column={name} tabIndex={-1}>
                    {cell(item)}
                  </div>
                ))}
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}
