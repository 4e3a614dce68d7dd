import { Link, Outlet } from '@tanstack/react-router';
import { Icon } from '../kit/icon.tsx';
import { ToastList } from '../kit/toast-list.tsx';
import { AccountMenu } from './account-menu.tsx';
import { Banner } from './banner.tsx';
import { Limits } from './limits.tsx';
import { Overlays } from './overlays.tsx';
import { pages } from './pages.ts';
import { useSession } from './session.ts';

/** The frame of every page. On phones the navigation is at the bottom, where a thumb reaches it. */
export function Shell() {
  const { can } = useSession();
  return (
    <div className="shell">
      <a className="skip-link" href="#content">
        Skip to the content
      </a>
      <header className="top">
        <p className="brand">
          <Icon name="paw" />
          Pet Store
        </p>
        <Limits />
        <Overlays />
        <AccountMenu />
      </header>
      <nav className="navigation" aria-label="Pages">
        {pages
          .filter(({ scope }) => can(scope))
          .map(({ path, title, icon }) => (
            <Link key={path} to={path} activeOptions={{ exact: path === '/', includeSearch: false }}>
              <Icon name={icon} />
              {title}
            </Link>
          ))}
      </nav>
      <main id="content" tabIndex={-1}>
        <Banner />
        <Outlet />
      </main>
      <ToastList />
    </div>
  );
}
