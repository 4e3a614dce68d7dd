import { Panel } from './panel.tsx';
import type { Column } from './table-row.tsx';

const lines = (count: number) => Array.from({ length: count }, (_, i) => i);

/** Where the rows of a table will be, while they are read. */
export function SkeletonRows<T>({
  columns,
  height,
  hasBoxes,
}: {
  columns: readonly Column<T>[];
  height: number;
  hasBoxes: boolean;
}) {
  return (
    <div className="skeleton" aria-hidden="true">
      {lines(12).map(i => (
        <div key={i} className="table-row" style={{ height }}>
          {hasBoxes && <span data-column="selection" />}
          {columns.map(({ name }) => (
            <span key={name} data-column={name} className="bone" />
          ))}
        </div>
      ))}
    </div>
  );
}

/** The content of a panel whose item is being read, or why it cannot be shown. */
export function SkeletonPanel({ error }: { error: Error | null | undefined }) {
  if (error) return <p className="panel-body">{error.message}</p>;
  return (
    <div className="panel-body skeleton" role="status" aria-label="Loading">
      {lines(4).map(i => (
        <span key={i} className="bone-field" />
      ))}
    </div>
  );
}

interface LoadingPanelProps {
  title: string;
  error: Error | null | undefined;
  onClose: () => void;
}

/** A panel whose item is being read. */
export function LoadingPanel({ title, error, onClose }: LoadingPanelProps) {
  return (
    <Panel title={title} onClose={onClose}>
      <SkeletonPanel error={error} />
    </Panel>
  );
}

/** Where cards will be, in the columns of a page. */
export function SkeletonCards({
  className,
  sizes,
}: {
  className: string;
  sizes: readonly (readonly number[])[];
}) {
  return (
    <div className={`${className} skeleton`} aria-hidden="true">
      {sizes.map((column, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: columns stay where they are
        <div key={i} className="skeleton-column">
          {column.map(count => (
            <div key={count} className="card">
              {lines(count).map(line => (
                <span key={line} className="bone" />
              ))}
            </div>
          ))}
        </div>
      ))}
    </div>
  );
}
