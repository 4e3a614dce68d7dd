import { createRootRoute } from '@tanstack/react-router';
import { NoPage } from './no-page.tsx';
import { Shell } from './shell.tsx';

export const rootRoute = createRootRoute({
  component: Shell,
  notFoundComponent: NoPage,
});
