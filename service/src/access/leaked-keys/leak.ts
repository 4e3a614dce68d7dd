import { id, int32, nameText } from '../../contract/schema.ts';
import { shape } from '../../contract/shape.ts';
import type { Static } from '../../contract/static.ts';
import { EventKind } from '../../events/event-log/event-kind.ts';

/** The maximum number of secrets in a report. */
export const MAX_SECRETS = 1_000;

const source = {
  ...nameText,
  description: 'Where the secrets were found, such as a repository and a file.',
} as const;

export const LeakReport = shape({
  title: 'LeakReport',
  properties: {
    keys: {
      type: 'array',
      items: { type: 'string', maxLength: 100 },
      minItems: 1,
      maxItems: MAX_SECRETS,
      description: 'The leaked secrets. Other texts are ignored.',
    },
    source,
  },
  optional: ['source'],
  example: { keys: ['psk_ThisIsOnlyAnExampleAndNoSecretKey0001X'], source: 'github.com/shop/site, .env' },
});

export const LeakReceipt = shape({
  title: 'LeakReceipt',
  properties: {
    wellFormed: {
      ...int32,
      minimum: 0,
      maximum: MAX_SECRETS,
      description:
        'The number of different texts in the report that have the form and the checksum of a secret key. The service ignores all ' +
        'others. It does not state which of them are secrets of keys.',
    },
  },
  example: { wellFormed: 0 },
});

/** What a report has ended. */
const leakOutcomes = ['key', 'earlierSecret', 'nothing'] as const;

const KeyLeak = shape({
  title: 'KeyLeak',
  properties: {
    keyId: { ...id, description: 'The ID of the API key.' },
    name: { ...nameText, description: 'The name of the API key.' },
    ended: {
      type: 'string',
      enum: leakOutcomes,
      description:
        'What has ended: the `key`, which was revoked; only an `earlierSecret`, whose grace after a rotation had not ended; or ' +
        '`nothing`, because the service only reports leaked keys.',
    },
    address: {
      type: 'string',
      maxLength: 50,
      nullable: true,
      description: 'The address of the client that sent the report; null if it disconnected at once.',
    },
    source: {
      ...source,
      nullable: true,
      description: `${source.description} Secrets in it are replaced by their prefix. Null if the report has none.`,
    },
  },
  example: {
    keyId: 2,
    name: 'Web shop',
    ended: 'key',
    address: '203.0.113.7',
    source: 'github.com/shop/site, .env',
  },
});

export const keyLeakEvents = new EventKind({ title: 'KeyLeakedEvent', types: ['key.leaked'], data: KeyLeak });

export type LeakReceipt = Static<typeof LeakReceipt>;
export type LeakOutcome = (typeof leakOutcomes)[number];
