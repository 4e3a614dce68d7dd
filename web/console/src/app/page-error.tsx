import { Empty } from '../kit/empty.tsx';

/** What a page shows that cannot be drawn. */
export function PageError({ error }: { error: unknown }) {
  return (
    <Empty picture="problem" title="This page cannot be shown">
      <p>{error instanceof Error ? error.message : String(error)}</p>
    </Empty>
  );
}
