import { Outlet } from '@tanstack/react-router';
import { Icon } from '../kit/icon.tsx';
import { ToastList } from '../kit/toast-list.tsx';
import { AccountMenu } from './account-menu.tsx';
import { Banner } from './banner.tsx';
import { Limits } from './limits.tsx';
import { Navigation } from './navigation.tsx';
import { Overlays } from './overlays.tsx';

/** The frame of every page. */
export function Shell() {
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
      <Navigation />
      <main id="content" tabIndex={-1}>
        <Banner />
        <Outlet />
      </main>
      <ToastList />
    </div>
  );
}
