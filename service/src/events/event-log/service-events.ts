import { EventKind } from './event-kind.ts';

const StoreChange = {
  title: 'StoreChange',
  type: 'object',
  required: ['command'],
  additionalProperties: false,
  properties: {
    command: { type: 'string', maxLength: 50, description: 'The command of the operator.' },
  },
  example: { command: 'new-store' },
} as const;

/** Commands of the operator append these events. */
export const serviceEvents = new EventKind({
  title: 'ServiceEvent',
  types: ['service.store_created', 'service.store_migrated'],
  data: StoreChange,
});
