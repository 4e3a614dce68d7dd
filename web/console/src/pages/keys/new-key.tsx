import type { ApiKey } from '@petstore/client';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useSession } from '../../app/session.ts';
import { useNewForm } from '../../data/forms.ts';
import { type KeyTemplate, keyTemplates, templateOf } from '../../data/key-templates.ts';
import { kindNames, possibleScopes } from '../../data/key-words.ts';
import { keys } from '../../data/keys.ts';
import { filled, filledOrNull } from '../../data/lines.ts';
import { addItem } from '../../data/list-cache.ts';
import { Choices } from '../../kit/choices.tsx';
import { useCloseTo } from '../../kit/close.ts';
import { SelectField } from '../../kit/field.tsx';
import { FormPanel } from '../../kit/form-panel.tsx';
import { SecretPanel, useSecret } from '../../kit/secret-panel.tsx';
import { KeyFields, type KeySettings, keyFields } from './key-fields.tsx';

const list = getRouteApi('/keys');

export function useClose(): () => void {
  const navigate = useNavigate();
  const search = list.useSearch();
  return useCloseTo(() => navigate({ to: '/keys', search }));
}

/** What keys of each kind are for. */
const uses: Record<ApiKey['kind'], string> = {
  secret: 'for programs and staff',
  publishable: 'for web pages',
  test: 'changes are tried out, not made',
};

/** What the secret of a key of each kind is for. */
const hints: Record<ApiKey['kind'], string> = {
  secret: `A person signs in with it at ${location.origin}/console. A program sends it in the header X-API-Key.`,
  publishable: 'A web page sends it in the header X-API-Key.',
  test: 'A program sends it in the header X-API-Key.',
};

const kinds = Object.keys(uses) as ApiKey['kind'][];

const empty: KeySettings = {
  name: '',
  plan: 'free',
  scopes: ['pets:read'],
  kind: 'secret',
  quotas: null,
  origins: null,
  allowedNetworks: null,
  expiresAt: null,
};

export function NewKey() {
  const { store, cache } = useSession();
  const close = useClose();
  const [created, setCreated] = useSecret<{
    kind: ApiKey['kind'];
    name: string;
    secret: string | undefined;
  }>();
  const { draft, set, panel, fields } = useNewForm({
    name: 'key.new',
    empty,
    fields: keyFields,
    create: async draft => {
      // The secret gets into this panel and nowhere else: not into the cache, and not into the storage of drafts.
      const { key: secret, ...item } = await store.keys.create(bodyOf(draft));
      addItem<ApiKey>(cache, keys, item);
      return { kind: item.kind, name: item.name, secret };
    },
    show: setCreated,
    onClose: close,
  });
  if (created)
    return (
      <SecretPanel
        title={`Key of ${created.name}`}
        secret={created.secret}
        hint={hints[created.kind]}
        onClose={close}
      />
    );

  function setKind(kind: ApiKey['kind']): void {
    set('kind', kind);
    set('origins', kind === 'publishable' ? [] : null);
    set(
      'scopes',
      draft.scopes.filter(scope => possibleScopes[kind].includes(scope)),
    );
    if (kind === 'test') {
      set('plan', 'free');
      set('quotas', null);
    }
  }
  return (
    <FormPanel title="New key" action="Create" {...panel}>
      {draft.kind === 'secret' && (
        <div className="field">
          <span className="field-label">For</span>
          <Choices
            label="Template"
            choices={keyTemplates.map(value => ({ value, title: value.title }))}
            chosen={templateOf(draft.scopes)}
            onChoose={({ plan, scopes }: KeyTemplate) => {
              set('plan', plan);
              set('quotas', null);
              set('scopes', scopes);
            }}
          />
        </div>
      )}
      <SelectField
        label="Kind"
        value={draft.kind}
        error={fields.errors.kind}
        onChange={event => setKind(kinds.find(kind => kind === event.target.value) ?? 'secret')}
      >
        {kinds.map(kind => (
          <option key={kind} value={kind}>
            {kindNames[kind]}: {uses[kind]}
          </option>
        ))}
      </SelectField>
      <KeyFields {...fields} />
    </FormPanel>
  );
}

/** The body of the request: fields without a value are absent. */
function bodyOf({ name, plan, scopes, kind, quotas, origins, allowedNetworks, expiresAt }: KeySettings) {
  const networks = filledOrNull(allowedNetworks);
  const common = {
    name,
    scopes,
    kind,
    ...(origins && { origins: filled(origins) }),
    ...(networks && { allowedNetworks: networks }),
    ...(expiresAt && { expiresAt }),
  };
  return plan === 'enterprise'
    ? { ...common, plan, quotas: quotas ?? { perMinute: 0, perDay: 0 } }
    : { ...common, plan };
}
