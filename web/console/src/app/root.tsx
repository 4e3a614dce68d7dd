import { createRootRoute, Link } from '@tanstack/react-router';
import { Empty } from '../kit/empty.tsx';
import { Shell } from './shell.tsx';

export const rootRoute = createRootRoute({
  component: Shell,
  notFoundComponent: () => (
    <Empty icon="warning" title="There is no such page">
      <p>
        The address may be mistyped. <Link to="/">Go to Today</Link>
      </p>
    </Empty>
  ),
  errorComponent: ({ error }) => (
    <Empty icon="warning" title="This page cannot be shown">
      <p>{error instanceof Error ? error.message : String(error)}</p>
    </Empty>
  ),
});
