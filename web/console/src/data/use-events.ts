import type { Event } from '@petstore/client';
import { useEffect, useEffectEvent } from 'react';
import { useSession } from '../app/session.ts';

/** Calls the listener with each event, as long as the component is shown. */
export function useEvents(listener: (event: Event) => void): void {
  const { live } = useSession();
  const onEvent = useEffectEvent(listener);
  useEffect(() => live.onEvent(event => onEvent(event)), [live]);
}
