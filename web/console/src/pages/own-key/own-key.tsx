import type { Account } from '@petstore/client';
import { Link, Outlet, useNavigate } from '@tanstack/react-router';
import { planNames } from '../../data/key-words.ts';
import { useOwnAccount, useRefreshAccount } from '../../data/own-account.ts';
import { useWhileShown } from '../../kit/is-shown.ts';
import { Time } from '../../kit/time.tsx';
import { useToasts } from '../../kit/toasts.ts';
import { ReportLeak } from '../keys/report-leak.tsx';
import { Warnings } from '../keys/warnings.tsx';
import { LargerPlan } from './larger-plan.tsx';
import './own-key.css';

/** What the holder of a key can see and do, whatever the key may do otherwise. */
export function OwnKey() {
  const account = useOwnAccount();
  return (
    <section className="page own-key" aria-label="This key">
      <header className="page-header">
        <h1>
          This key <small>{account.name}</small>
        </h1>
        <Link className="button" to="/account/leaked">
          Report a leak
        </Link>
      </header>
      <section className="own-part" aria-label="Limits">
        <h2>Limits</h2>
        <Limits account={account} />
        <Warnings warnings={account.warnings} />
      </section>
      {/* A test key always has the plan Free, and its request would not be stored. */}
      {account.kind !== 'test' && <LargerPlan account={account} />}
      <Outlet />
    </section>
  );
}

function Limits({ account: { plan, windows, ban, expiresAt } }: { account: Account }) {
  const used = (window: Account['windows']['day']) =>
    `${window.used.toLocaleString()} of ${window.limit.toLocaleString()} requests`;
  return (
    <dl className="facts">
      <dt>Plan</dt>
      <dd>{planNames[plan]}</dd>
      <dt>This minute</dt>
      <dd>{used(windows.minute)}</dd>
      <dt>Today</dt>
      <dd>
        {used(windows.day)}{' '}
        <small>
          until {new Date(windows.day.resetAt).toLocaleTimeString(undefined, { timeStyle: 'short' })}
        </small>
      </dd>
      {ban && (
        <>
          <dt>Banned</dt>
          <dd>until {new Date(ban.until).toLocaleString()}</dd>
        </>
      )}
      <dt>Expires</dt>
      <dd>{expiresAt ? <Time at={expiresAt} /> : 'Never'}</dd>
    </dl>
  );
}

export function LeakOfOwnKey() {
  const navigate = useNavigate();
  const refresh = useRefreshAccount();
  const toasts = useToasts();
  const close = useWhileShown(() => navigate({ to: '/account' }));
  return (
    <ReportLeak
      onClose={close}
      onReported={what => {
        toasts.show({ text: `Reported ${what}` });
        close();
        // If it was the key of this session, the user is signed out now.
        void refresh();
      }}
    />
  );
}
