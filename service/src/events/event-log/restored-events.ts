import { shape } from '../../contract/shape.ts';
import { RESTORED_TYPE } from '../../db/event-ranges.ts';
import { EventKind } from './event-kind.ts';

/** The data of a `log.restored`, as `db/event-ranges.ts` writes it. */
const LogRestoration = shape({
  title: 'LogRestoration',
  properties: {
    lastSurvivingId: {
      type: 'string',
      maxLength: 16,
      pattern: '^(0|[1-9][0-9]*)$',
      description:
        'The `id` of the last event before the restore that is still part of the log; `0` if there is none. As a cursor it ' +
        'means the position before the `log.restored`.',
    },
  },
  example: { lastSurvivingId: '123' },
});

/** Commands of the operator append these events, on a connection of their own. */
export const restoredEvents = new EventKind({
  title: 'LogRestoredEvent',
  types: [RESTORED_TYPE],
  data: LogRestoration,
});
