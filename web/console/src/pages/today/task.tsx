import type { ReactNode } from 'react';
import { Icon, type IconName } from '../../kit/icon.tsx';

/** How many lines of a task are shown. Its link leads to all. */
const MOST_LINES = 6;

interface TaskProps<T> {
  icon: IconName;
  title: string;
  /** Whether it should have been done already. */
  isLate?: boolean;
  /** What does all of it. */
  action?: ReactNode;
  /** The link to all of its lines. */
  all?: ReactNode;
  items: readonly T[];
  children: (item: T) => ReactNode;
}

/** Something to do, with a line for each thing that it is about. */
export function Task<T>({ icon, title, isLate = false, action, all, items, children }: TaskProps<T>) {
  return (
    <section className="task" aria-label={title} data-late={isLate || undefined}>
      <header>
        <Icon name={icon} />
        <h2>{title}</h2>
        {action}
      </header>
      <ul>{items.slice(0, MOST_LINES).map(children)}</ul>
      {items.length > MOST_LINES && all}
    </section>
  );
}
