import { EventKind } from '../../events/event-log/event-kind.ts';
import { Ban } from '../rate-limits/key-usage.ts';
import { ApiKey } from './api-key.ts';

export const keyEvents = new EventKind({
  title: 'KeyEvent',
  types: ['key.created', 'key.updated', 'key.rotated', 'key.revoked', 'key.unbanned', 'key.limits_reset'],
  data: ApiKey,
});

export const keyBanEvents = new EventKind({ title: 'KeyBannedEvent', types: ['key.banned'], data: Ban });
