import { createRootRoute } from '@tanstack/react-router';
import { Empty } from '../kit/empty.tsx';
import { NoPage } from './no-page.tsx';
import { Shell } from './shell.tsx';

export const rootRoute = createRootRoute({
  component: Shell,
  notFoundComponent: NoPage,
  errorComponent: ({ error }) => (
    <Empty icon="warning" title="This page cannot be shown">
      <p>{error instanceof Error ? error.message : String(error)}</p>
    </Empty>
  ),
});
