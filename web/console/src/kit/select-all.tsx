import { useEffect, useState } from 'react';
import { Button } from './button.tsx';
import { useIsShown } from './is-shown.ts';
import { useToasts } from './toasts.ts';

/** The most rows that are read to select them: 200 requests. */
const MOST = 20_000;

/** Part of what `useListPage` returns. */
export interface SelectAllList<T> {
  rows: readonly T[];
  total: string | undefined;
  hasMore: boolean;
  loadAll: (most: number, signal: AbortSignal) => Promise<readonly T[]>;
}

interface SelectAllProps<T> {
  list: SelectAllList<T>;
  /** How many rows are selected. */
  count: number;
  onSelect: (rows: readonly T[]) => void;
}

/** Offers to select all rows of a list, also those that were not read yet, when all others are selected. */
export function SelectAll<T>({ list, count, onSelect }: SelectAllProps<T>) {
  const [reading, setReading] = useState<AbortController>();
  const isShown = useIsShown();
  const toasts = useToasts();
  useEffect(() => () => reading?.abort(), [reading]);
  if (reading)
    return <Button onClick={() => reading.abort()}>Stop: {list.rows.length.toLocaleString()} so far</Button>;
  if (!list.hasMore || count < list.rows.length || count === 0) return null;

  function start(): void {
    const controller = new AbortController();
    setReading(controller);
    list
      .loadAll(MOST, controller.signal)
      .then(rows => isShown() && onSelect(rows), toasts.showProblem)
      .finally(() => setReading(undefined));
  }
  return <Button onClick={start}>Select all {list.total} matches</Button>;
}
