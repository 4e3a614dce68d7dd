import { useElementScrollRestoration } from '@tanstack/react-router';
import { defaultRangeExtractor, type Range, useVirtualizer } from '@tanstack/react-virtual';
import {
  type CSSProperties,
  type FocusEvent,
  type KeyboardEvent,
  type MouseEvent,
  useCallback,
  useEffect,
  useRef,
  useState,
} from 'react';
import { density } from './density.ts';
import { useIsPhone } from './media.ts';
import { useRestoredPosition } from './restored-position.ts';
import { moveInRow } from './row-controls.ts';
import { SkeletonRows } from './skeleton.tsx';
import { type Column, Head, Row, type Selection } from './table-row.tsx';
import { letterOf } from './typing.ts';

export type { Column, Selection } from './table-row.tsx';

interface TableProps<T> {
  label: string;
  /** Decides the widths of the columns, by the CSS of the page. */
  className: string;
  /** The same array as long as nothing in it changes: otherwise scrolling draws all visible rows again. */
  columns: readonly Column<T>[];
  rows: readonly T[];
  /** Whether the first rows are being read. */
  isLoading: boolean;
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

/** The height of a row with text of the usual size, in pixels. */
const ROW = 52;
const COMPACT_ROW = 40;
/** On phones a row has two lines. */
const PHONE_ROW = 72;
/** How many rows before the end the next page is requested. */
const NEAR = 40;

/**
 * A table of any length. Only the rows that are visible, and the one with the focus, are elements. Tab reaches one row, the one that
 * had the focus last (WAI-ARIA APG, grid). Arrow keys move between rows, the header and what can be pressed in them; Enter opens a row.
 * The space bar selects one, Shift with a click, an arrow or the space bar a range, and Ctrl+A or ⌘A all that were read.
 */
export function Table<T>({
  label,
  className,
  columns,
  rows,
  isLoading,
  idOf,
  gone,
  current,
  onOpen,
  onEnd,
  selection,
}: TableProps<T>) {
  const scroller = useRef<HTMLDivElement>(null);
  const [scale] = useState(textScale);
  const chosen = density.use();
  const isPhone = useIsPhone();
  const rowHeight = Math.round((isPhone ? PHONE_ROW : chosen === 'compact' ? COMPACT_ROW : ROW) * scale);
  const position = useElementScrollRestoration({ id: label });
  const stopRestoring = useRestoredPosition({
    scroller,
    top: position?.scrollY ?? 0,
    count: rows.length,
    onEnd,
  });
  /** The row with the focus stays when it is scrolled out of sight: a field in it is saved when it loses the focus. */
  const rangeExtractor = useCallback((range: Range) => {
    const drawn = defaultRangeExtractor(range);
    const focused = scroller.current?.querySelector<HTMLElement>('[data-index]:focus-within');
    const index = Number(focused?.dataset.index ?? range.count);
    return index < range.count && !drawn.includes(index) ? [...drawn, index].sort((a, b) => a - b) : drawn;
  }, []);
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    getItemKey: i => idOf(rows[i]!),
    overscan: 8,
    rangeExtractor,
    initialOffset: position?.scrollY ?? 0,
  });
  /** The item that had the focus last. */
  const [lastFocused, setLastFocused] = useState<number>();
  const items = virtualizer.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;

  // biome-ignore lint/correctness/useExhaustiveDependencies: the virtualizer keeps the old heights otherwise
  useEffect(() => virtualizer.measure(), [virtualizer, rowHeight]);
  useEffect(() => {
    if (last >= rows.length - NEAR) onEnd();
  }, [last, rows.length, onEnd]);

  function focusRow(index: number): void {
    if (index < 0) scroller.current?.parentElement?.querySelector<HTMLElement>('.table-head')?.focus();
    if (index < 0 || index >= rows.length) return;
    virtualizer.scrollToIndex(index);
    const drawn = () => scroller.current?.querySelector<HTMLElement>(`[data-index="${index}"]`);
    // At once if it can be: the next key may come before the next frame.
    if (drawn()) drawn()?.focus({ preventScroll: true });
    else requestAnimationFrame(() => drawn()?.focus({ preventScroll: true }));
  }

  /** The row of an event, and its index. All rows share one listener, so that a row is drawn again only if it changes. */
  function rowOf({ target }: { target: EventTarget }) {
    const row = target instanceof Element ? target.closest<HTMLElement>('[data-index]') : null;
    return { row, index: Number(row?.dataset.index) };
  }

  function onFocus(event: FocusEvent): void {
    const { row, index } = rowOf(event);
    if (row) setLastFocused(idOf(rows[index]!));
  }

  function onClick(event: MouseEvent): void {
    const { row, index } = rowOf(event);
    if (!row) return;
    const isBox = event.target instanceof Element && event.target.closest('[data-column="selection"]');
    if (selection && isBox) selection.toggle(idOf(rows[index]!), event.shiftKey);
    else onOpen(rows[index]!);
  }

  /** Changes the selection by a key. Returns whether the key has done all that it does. */
  function selectByKey(event: KeyboardEvent, index: number, to?: number): boolean {
    const { key, shiftKey, ctrlKey, metaKey, target } = event;
    if (!selection) return false;
    const isRow = target instanceof Element && target.matches('[data-index]');
    if (letterOf(event) === 'a' && (ctrlKey || metaKey) && !shiftKey) selection.toggleAll();
    else if (key === ' ' && isRow) selection.toggle(idOf(rows[index]!), shiftKey);
    else {
      const next = shiftKey && to !== undefined ? rows[to] : undefined;
      if (next) selection.extend(idOf(rows[index]!), idOf(next));
      return false;
    }
    return true;
  }

  function onHeadKey(event: KeyboardEvent): void {
    if (event.altKey || (!moveInRow(event) && event.key !== 'ArrowDown')) return;
    if (event.key === 'ArrowDown') focusRow(items[0]?.index ?? 0);
    event.preventDefault();
  }

  function onKey(event: KeyboardEvent): void {
    const { row, index } = rowOf(event);
    // Keys of the browser.
    if (event.altKey) return;
    // A menu or a question that a row has opened has keys of its own.
    if (event.target instanceof Element && event.target.closest('[popover], dialog')) return;
    if (moveInRow(event)) {
      event.preventDefault();
      return;
    }
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

  const drawnIds = items.map(({ index }) => idOf(rows[index]!));
  const reachable =
    [lastFocused, current].find(id => id !== undefined && drawnIds.includes(id)) ?? drawnIds[0];
  return (
    // biome-ignore lint/a11y/useSemanticElements: a table element cannot leave out rows
    <div
      role="grid"
      aria-label={label}
      aria-rowcount={rows.length + 1}
      aria-busy={isLoading}
      aria-multiselectable={selection !== undefined}
      data-selectable={selection !== undefined || undefined}
      data-density={chosen}
      className={`table ${className}`}
      tabIndex={-1}
    >
      <Head columns={columns} rowCount={rows.length} selection={selection} onKeyDown={onHeadKey} />
      {/* biome-ignore lint/a11y/useSemanticElements: as above */}
      <div
        role="rowgroup"
        ref={scroller}
        className="table-body"
        style={{ '--row': `${rowHeight}px`, '--rows': rows.length } as CSSProperties}
        data-scroll-restoration-id={label}
        onWheel={stopRestoring}
        onPointerDown={stopRestoring}
        onKeyDown={stopRestoring}
      >
        {isLoading && (
          <SkeletonRows columns={columns} height={rowHeight} hasBoxes={selection !== undefined} />
        )}
        {/* biome-ignore lint/a11y/noStaticElementInteractions: its rows receive the focus */}
        <div
          role="presentation"
          className="table-space"
          style={{ height: virtualizer.getTotalSize() }}
          onClick={onClick}
          onKeyDown={onKey}
          onFocus={onFocus}
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
                isReachable={id === reachable}
              />
            );
          })}
        </div>
      </div>
    </div>
  );
}

/** How much larger the text is than usual: the user can set its size in the browser. */
function textScale(): number {
  return Math.max(1, Number.parseFloat(getComputedStyle(document.documentElement).fontSize) / 16);
}
