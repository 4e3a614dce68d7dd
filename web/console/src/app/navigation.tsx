import { Link, useLocation } from '@tanstack/react-router';
import { Fragment, useId, useRef } from 'react';
import { Icon } from '../kit/icon.tsx';
import { type PageEntry, pages } from './pages.ts';
import { useSession } from './session.ts';

/** How many pages the bar of a phone has, next to the button for the others. */
const IN_BAR = 4;

/** The links to the pages. On phones they are at the bottom, where a thumb reaches them: four, and the others behind "More". */
export function Navigation() {
  const { can } = useSession();
  const { pathname } = useLocation();
  const id = useId();
  const more = useRef<HTMLDivElement>(null);
  const allowed = pages.filter(({ scope }) => !scope || can(scope));
  // A button for a single page would take as much room as its link.
  const inBar = allowed.length === IN_BAR + 1 ? allowed.length : IN_BAR;
  const others = allowed.slice(inBar);
  const administration = others.filter(({ isAdministration }) => isAdministration);
  // A heading for one link would say nothing.
  const heading = administration.length > 1 ? administration[0] : undefined;
  return (
    <nav className="navigation" aria-label="Pages">
      {allowed.slice(0, inBar).map(page => (
        <PageLink key={page.path} page={page} />
      ))}
      {others.length > 0 && (
        <>
          <button
            type="button"
            className="navigation-more"
            popoverTarget={id}
            aria-current={others.some(({ path }) => pathname.startsWith(path)) ? 'true' : undefined}
          >
            <Icon name="more" />
            More
          </button>
          {/* On larger screens it is no popover: its links are in the list. */}
          <div ref={more} id={id} popover="auto" className="navigation-others">
            {others.map(page => (
              <Fragment key={page.path}>
                {page === heading && <p className="navigation-heading">Administration</p>}
                <PageLink page={page} onClick={() => more.current?.hidePopover()} />
              </Fragment>
            ))}
          </div>
        </>
      )}
    </nav>
  );
}

function PageLink({ page: { path, title, icon }, onClick }: { page: PageEntry; onClick?: () => void }) {
  return (
    <Link to={path} activeOptions={{ exact: path === '/', includeSearch: false }} onClick={onClick}>
      <Icon name={icon} />
      {title}
    </Link>
  );
}
