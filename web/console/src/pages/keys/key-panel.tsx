import { getRouteApi } from '@tanstack/react-router';
import { useSession } from '../../app/session.ts';
import { useEditForm } from '../../data/forms.ts';
import { useRefreshKey } from '../../data/fresh-keys.ts';
import { kindNames, planNames } from '../../data/key-words.ts';
import { keys } from '../../data/keys.ts';
import { FormPanel } from '../../kit/form-panel.tsx';
import { SecretPanel, useSecret } from '../../kit/secret-panel.tsx';
import { LoadingPanel } from '../../kit/skeleton.tsx';
import { Time } from '../../kit/time.tsx';
import { useToasts } from '../../kit/toasts.ts';
import { HistoryPart } from '../activity/history-part.tsx';
import { KeyActions } from './key-actions.tsx';
import { KeyFields, keyFields } from './key-fields.tsx';
import { useClose } from './new-key.tsx';
import { UsagePlot } from './usage-plot.tsx';

const key = getRouteApi('/keys/$keyId');

export function EditKey() {
  const { keyId } = key.useParams();
  return <EditPanel key={keyId} id={Number(keyId)} />;
}

interface Rotated {
  name: string;
  secret: string | undefined;
  /** `undefined` if the earlier secret has ended at once. */
  earlierUntil: string | undefined;
}

function EditPanel({ id }: { id: number }) {
  const { store, account } = useSession();
  const toasts = useToasts();
  const close = useClose();
  const refresh = useRefreshKey();
  const [rotated, setRotated] = useSecret<Rotated>();
  const { edit, conflictOn, run, error, panel } = useEditForm(keys, id, {
    fields: keyFields,
    save: (save, { name }) => save(`Saved ${name}`),
    onClose: close,
  });
  if (!edit) return <LoadingPanel title="Key" error={error} onClose={close} />;
  const { base } = edit;
  if (rotated)
    return (
      <SecretPanel
        title={`New secret of ${rotated.name}`}
        secret={rotated.secret}
        hint={
          rotated.earlierUntil
            ? `The earlier secret works until ${new Date(rotated.earlierUntil).toLocaleString()}.`
            : 'The earlier secret no longer works.'
        }
        onClose={() => setRotated(undefined)}
      />
    );
  const isRevoked = base.revokedAt !== null;
  const deletion = {
    verb: 'Revoke',
    text:
      id === account.keyId
        ? 'This cannot be undone. The console uses this key: you will be signed out.'
        : 'This cannot be undone. Every request with the key is rejected from then on.',
    onConfirm: () =>
      run(async () => {
        await store.keys.revoke(id);
        toasts.show({ text: `Revoked ${base.name}` });
        close();
        // It stays in the list as revoked. With its own key the console cannot read it any more.
        if (id !== account.keyId) await refresh(id);
      }),
  };
  return (
    <FormPanel title={base.name} {...panel} action={isRevoked ? undefined : 'Save'} deletion={deletion}>
      {base.revokedAt && (
        <p className="note">
          Revoked <Time at={base.revokedAt} />. A revoked key cannot be used again.
        </p>
      )}
      {!isRevoked && <KeyActions apiKey={base} onRotate={setRotated} />}
      <dl className="facts">
        <dt>Kind</dt>
        <dd>{kindNames[base.kind]}</dd>
        <dt>Created</dt>
        <dd>
          <Time at={base.createdAt} />
        </dd>
        <dt>Last used</dt>
        <dd>
          {base.lastUsedAt ? <Time at={base.lastUsedAt} /> : 'Never'}
          {base.lastUsedFrom && <small> from {base.lastUsedFrom}</small>}
          {base.lastUsedClient && <small> by {base.lastUsedClient}</small>}
        </dd>
      </dl>
      <KeyFields
        {...edit.fields}
        conflicts={{
          name: conflictOn('name', name => name),
          plan: conflictOn('plan', plan => planNames[plan]),
          scopes: conflictOn('scopes', scopes => scopes.join(', ')),
          quotas: conflictOn('quotas', quotas =>
            quotas ? `${quotas.perMinute} per minute, ${quotas.perDay} per day` : 'those of the plan',
          ),
          origins: conflictOn('origins', origins => origins?.join(', ') ?? 'none'),
          allowedNetworks: conflictOn('allowedNetworks', networks => networks?.join(', ') ?? 'any'),
          expiresAt: conflictOn('expiresAt', time => (time ? new Date(time).toLocaleString() : 'never')),
        }}
        isReadOnly={isRevoked}
      />
      <UsagePlot id={id} />
      <HistoryPart subject={`keys/${id}`} />
    </FormPanel>
  );
}
