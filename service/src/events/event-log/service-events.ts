import { shape } from '../../contract/shape.ts';
import { EventKind } from './event-kind.ts';

const StoreChange = shape({
  title: 'StoreChange',
  properties: {
    command: { type: 'string', maxLength: 50, description: 'The command of the operator.' },
  },
  example: { command: 'new-store' },
});

/** Commands of the operator append these events. */
export const serviceEvents = new EventKind({
  title: 'ServiceEvent',
  types: ['service.store_created', 'service.store_migrated'],
  data: StoreChange,
});
