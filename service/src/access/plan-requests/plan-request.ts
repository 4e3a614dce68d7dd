import { dateTime, id, nameText } from '../../contract/schema.ts';
import { shape } from '../../contract/shape.ts';
import type { Static } from '../../contract/static.ts';
import { assignedId, instant, integer, nullable, text } from '../../db/columns.ts';
import { Table } from '../../db/table.ts';
import { EventKind } from '../../events/event-log/event-kind.ts';
import { NewApiKey } from '../api-keys/api-key.ts';
import type { Plan } from '../plans/plan.ts';

const { plan, quotas } = NewApiKey.properties;

/** The message of a decision is the `reason` of its event, which has this length. */
const note = { ...nameText, maxLength: 500 } as const;

export const NewPlanRequest = shape({
  title: 'NewPlanRequest',
  properties: {
    plan: { ...plan, description: 'The wanted plan.' },
    quotas: { ...quotas, description: 'The wanted limits of an Enterprise key; other plans have none.' },
    note: { ...note, description: 'Why, for the administrators.' },
  },
  optional: ['quotas', 'note'],
  example: { plan: 'business', note: 'We open three more shops in December' },
});

export const planRequestStatuses = ['open', 'approved', 'declined'] as const;

const message = { ...note, description: 'A message for the holder of the key.' } as const;

export const PlanApproval = shape({
  title: 'PlanApproval',
  properties: { message },
  optional: ['message'],
  example: { message: 'Welcome to Business' },
});

export const PlanRejection = shape({
  title: 'PlanRejection',
  properties: { message },
  example: { message: 'Please call us about the quotas first' },
});

export const PlanRequest = shape({
  title: 'PlanRequest',
  properties: {
    id: { ...id, readOnly: true, description: 'Unique identifier assigned on creation.' },
    keyId: { ...id, description: 'The ID of the API key.' },
    name: { ...nameText, description: 'The name of the API key at that time.' },
    plan: NewPlanRequest.properties.plan,
    quotas: { ...NewPlanRequest.properties.quotas, nullable: true },
    note: { ...NewPlanRequest.properties.note, nullable: true },
    status: {
      type: 'string',
      enum: planRequestStatuses,
      description: 'Whether an administrator has decided, and how.',
    },
    message: { ...message, nullable: true },
    createdAt: { ...dateTime, description: 'When the plan was requested.' },
    decidedAt: {
      ...dateTime,
      nullable: true,
      description: 'When an administrator decided; null while it is open.',
    },
  },
  example: {
    id: 1,
    keyId: 2,
    name: 'Web shop',
    plan: 'business',
    quotas: null,
    note: 'We open three more shops in December',
    status: 'open',
    message: null,
    createdAt: '2026-11-21T12:00:00.000Z',
    decidedAt: null,
  },
});

export type NewPlanRequest = Static<typeof NewPlanRequest>;
export type PlanRequest = Static<typeof PlanRequest>;

/** Plan requests as they are stored: the quotas have two columns. */
export const planRequestTable = new Table('plan_requests', {
  id: assignedId,
  keyId: integer('api_key_id'),
  name: text('name'),
  plan: text<Plan>('plan'),
  perMinute: nullable(integer('per_minute')),
  perDay: nullable(integer('per_day')),
  note: nullable(text('note')),
  status: text<PlanRequest['status']>('status'),
  message: nullable(text('message')),
  createdAt: instant('created_at'),
  decidedAt: nullable(instant('decided_at')),
});

export const planRequestEvents = new EventKind({
  title: 'PlanRequestEvent',
  types: ['key.plan_requested', 'key.plan_approved', 'key.plan_declined'],
  data: PlanRequest,
});
