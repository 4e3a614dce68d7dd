import type { Wait } from '@petstore/client';
import { Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { createPortal } from 'react-dom';
import { dayOf } from '../data/days.ts';
import { Icon } from '../kit/icon.tsx';
import { useTopDialog } from '../kit/modal.ts';
import { useSession } from './session.ts';

const TEST = 'This is a test key: what you change is only tried out, and nothing is stored.';

/** How often a wait is looked at while it lasts, in milliseconds. */
const INTERVAL = 500;

/**
 * Shows why nothing is sent at the moment, and otherwise that nothing is changed, with a test key. What the user did continues by itself. It is
 * part of an open dialog, which covers the page and keeps everything else from being read aloud.
 */
export function Banner() {
  const { store, account, onResponse } = useSession();
  const [wait, setWait] = useState<Wait>();
  useEffect(() => {
    const look = () => setWait(store.limits.wait);
    const timer = setInterval(look, INTERVAL);
    const stop = onResponse(look);
    return () => {
      clearInterval(timer);
      stop();
    };
  }, [store, onResponse]);
  const dialog = useTopDialog();
  const test = account.kind === 'test' && !dialog ? TEST : undefined;
  const text = wait ? textOf(wait) : test;
  const banner = (
    <div role="status" className="banner-place">
      {text && (
        <p className="banner">
          <Icon name="warning" />
          <span>
            {text} {/* From a dialog it would leave what was typed there. */}
            {wait?.reason === 'limit' && !dialog && account.kind !== 'test' && (
              <Link to="/account">Request a larger plan</Link>
            )}
          </span>
        </p>
      )}
    </div>
  );
  return dialog ? createPortal(banner, dialog) : banner;
}

function textOf({ reason, retryAt }: Wait): string {
  const isToday = dayOf(retryAt) === dayOf(new Date());
  const time = isToday ? retryAt.toLocaleTimeString() : retryAt.toLocaleString();
  if (reason === 'unavailable') {
    const cause = navigator.onLine ? 'The service cannot be reached' : 'This device is offline';
    return `${cause}. What you typed is kept, and the console continues by itself.`;
  }
  if (reason === 'ban')
    return `This API key is banned, and can send no requests until ${time}. The console continues by itself.`;
  return `This API key has no requests left until ${time}. The console continues by itself.`;
}
