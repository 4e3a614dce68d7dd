import { withoutSecrets } from '../../contract/secret-forms.ts';
import { defineRoute, type Route } from '../../routes/define-route.ts';
import { reply } from '../../routes/reply.ts';
import type { KeyLimits } from '../rate-limits/key-limits.ts';
import { LeakReceipt, LeakReport } from './leak.ts';
import { endLeaked, type Reporting } from './leaked-keys.ts';

export interface LeakServices extends Pick<Reporting, 'onlyReports' | 'source'> {
  keyLimits: KeyLimits;
}

export const leakRoutes = ({ keyLimits, onlyReports, source }: LeakServices): Route[] => [
  defineRoute({
    method: 'POST',
    path: '/keys/revoke-leaked',
    operationId: 'revokeLeakedKeys',
    tag: 'API keys',
    summary: 'Revoke leaked API keys',
    description:
      'For everyone who finds secrets of API keys where they do not belong, such as scanners of repositories: a client that has a secret may ' +
      'end it. The key of each secret is revoked, at once by this process, within a second by others. Of a key that was rotated, an ' +
      'earlier secret ends alone. Publishable keys are public, and are ignored. The response is the same whether keys with these ' +
      'secrets exist or not. Administrators and the webhooks of the key receive the event `key.leaked`, with the address of the ' +
      'client and the `source`. An operator can set that leaked keys are only reported. Requires no API key; requests count against ' +
      'the address of the client, with the limits of the Free plan.',
    scope: null,
    countedBy: 'address',
    body: LeakReport,
    success: { status: 200, description: 'The report was processed.', schema: LeakReceipt },
    errors: [],
    stability: 'experimental',
    handler: async ({ body, db, now, address }) => {
      // Scanners send the line in which they found the secret.
      const foundIn = body.source === undefined ? null : withoutSecrets(body.source);
      const reporting = { keyLimits, now, address, foundIn, onlyReports, source };
      return reply.resource(await endLeaked(db, body.keys, reporting));
    },
  }),
];
