import { type KeyboardEvent, memo, type ReactNode } from 'react';
import { useRowControls } from './row-controls.ts';

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
  /** Selects all rows from the last one that was selected, or from a row if there is none, up to another row. */
  extend: (from: number, to: number) => void;
  toggleAll: () => void;
}

interface HeadProps<T> {
  columns: readonly Column<T>[];
  rowCount: number;
  selection: Selection<T> | undefined;
  onKeyDown: (event: KeyboardEvent) => void;
}

/** The names of the columns, and the box that selects all rows. */
export function Head<T>({ columns, rowCount, selection, onKeyDown }: HeadProps<T>) {
  const element = useRowControls();
  return (
    // biome-ignore lint/a11y/useSemanticElements: a table element cannot leave out rows
    <div
      ref={element}
      role="row"
      className="table-row table-head"
      aria-rowindex={1}
      tabIndex={-1}
      onKeyDown={onKeyDown}
    >
      {selection && (
        // biome-ignore lint/a11y/useSemanticElements: as above
        <div role="columnheader" data-column="selection" tabIndex={-1}>
          <input
            type="checkbox"
            aria-label="Select all rows that are loaded"
            checked={rowCount > 0 && selection.count === rowCount}
            ref={box => {
              if (box) box.indeterminate = selection.count > 0 && selection.count < rowCount;
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

export const Row = memo(function Row<T>(props: RowProps<T>) {
  const { item, index, start, height, columns, name, isSelected, isGone, isCurrent, isReachable } = props;
  const element = useRowControls();
  return (
    // biome-ignore lint/a11y/useSemanticElements: a table element cannot leave out rows
    <div
      ref={element}
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
          <input type="checkbox" aria-label={`Select ${name}`} checked={isSelected} readOnly />
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
