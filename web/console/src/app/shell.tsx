import { Outlet, useLocation, useParams } from '@tanstack/react-router';
import { lazyPart } from '../kit/lazy-part.tsx';
import { useTitle } from '../kit/title.ts';
import { ToastList } from '../kit/toast-list.tsx';
import { AccountMenu } from './account-menu.tsx';
import { Banner } from './banner.tsx';
import { Limits } from './limits.tsx';
import { Loading } from './loading.tsx';
import { Mark } from './mark.tsx';
import { Navigation } from './navigation.tsx';
import { NoPage } from './no-page.tsx';
import { Overlays } from './overlays.tsx';
import { missingScope, pageAt } from './pages.ts';
import { useAllParts } from './preload.ts';
import { useSession } from './session.ts';

const NotAllowed = lazyPart(
  () => import('./not-allowed.tsx'),
  'NotAllowed',
  () => null,
);

/** The frame of every page. */
export function Shell() {
  useAllParts(useSession().cache);
  const { pathname } = useLocation();
  useTitle(pathname.startsWith('/account') ? 'This key' : pageAt(pathname)?.title);
  return (
    <div className="shell">
      <a className="skip-link" href="#content">
        Skip to the content
      </a>
      <header className="top">
        <p className="brand">
          <Mark />
          Pet Store
        </p>
        <Limits />
        <Overlays />
        <AccountMenu />
      </header>
      <Navigation />
      <main id="content" tabIndex={-1}>
        <Loading />
        <Allowed />
        <Banner />
      </main>
      <ToastList />
    </div>
  );
}

/** The page, unless nothing has its address, or the key lacks its scope: no link leads there, but an address can be typed or sent. */
function Allowed() {
  const { account, can } = useSession();
  const { pathname } = useLocation();
  const ids: readonly string[] = Object.values(useParams({ strict: false }));
  const missing = missingScope(pathname, can);
  // A key with the scope for events still needs one for what they are about.
  const scope = missing && account.scopes.includes(missing) ? 'pets:read' : missing;
  // Otherwise the console would ask the service for NaN.
  if (ids.some(id => !/^\d{1,15}$/.test(id))) return <NoPage />;
  return scope ? <NotAllowed scope={scope} /> : <Outlet />;
}
