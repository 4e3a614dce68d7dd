import type { ReactNode } from 'react';
import { Picture, type PictureName } from './picture.tsx';

interface EmptyProps {
  picture: PictureName;
  title: string;
  /** What to do next. */
  children: ReactNode;
}

/** What a list shows when it has nothing to show. */
export function Empty({ picture, title, children }: EmptyProps) {
  return (
    <div className="empty">
      <Picture name={picture} />
      <h2>{title}</h2>
      {children}
    </div>
  );
}
