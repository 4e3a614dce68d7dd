import type { ReactNode } from 'react';
import { Icon, type IconName } from './icon.tsx';

interface EmptyProps {
  icon: IconName;
  title: string;
  /** What to do next. */
  children: ReactNode;
}

/** What a list shows when it has nothing to show. */
export function Empty({ icon, title, children }: EmptyProps) {
  return (
    <div className="empty">
      <Icon name={icon} />
      <h2>{title}</h2>
      {children}
    </div>
  );
}
