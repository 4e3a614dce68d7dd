import type { ApiKey } from '@petstore/client';
import { instantOf, localTimeOf } from '../../data/days.ts';
import type { FieldsProps } from '../../data/forms.ts';
import { planWithLimits, possibleScopes, scopeNames } from '../../data/key-words.ts';
import { plans } from '../../data/keys.ts';
import { type Conflict, SelectField, TextField } from '../../kit/field.tsx';
import { ChecksField, LinesField } from '../../kit/field-groups.tsx';
import { QUOTAS, QuotaFields, quotaFields } from './quota-fields.tsx';

/** The fields of a key that can be changed. */
export type KeySettings = Pick<
  ApiKey,
  'name' | 'plan' | 'scopes' | 'kind' | 'quotas' | 'origins' | 'allowedNetworks' | 'expiresAt'
>;

/** The names of the fields next to which errors are shown. */
export const keyFields = [
  'name',
  'plan',
  'scopes',
  'kind',
  ...quotaFields,
  'origins',
  'allowedNetworks',
  'expiresAt',
];

export function KeyFields(props: FieldsProps<KeySettings>) {
  const { item, errors, conflicts = {}, isReadOnly = false, onChange } = props;
  const { name, plan, kind, quotas, origins, allowedNetworks, expiresAt } = item;
  function setPlan(value: string): void {
    const chosen = plans.find(plan => plan === value) ?? plan;
    onChange('plan', chosen);
    // Only Enterprise keys have quotas, and they need them.
    onChange('quotas', chosen === 'enterprise' ? (quotas ?? QUOTAS) : null);
  }
  // With another plan the key has no quotas, so their fields are not shown. Theirs need the plan Enterprise.
  const conflictOnQuotas: Conflict | undefined = conflicts.quotas && {
    ...conflicts.quotas,
    onChoose: choice => {
      conflicts.quotas?.onChoose(choice);
      if (choice === 'theirs') onChange('plan', 'enterprise');
    },
  };
  return (
    <>
      <TextField
        label="Name"
        value={name}
        error={errors.name}
        conflict={conflicts.name}
        disabled={isReadOnly}
        onChange={event => onChange('name', event.target.value)}
      />
      <SelectField
        label="Plan: how many requests it may send"
        value={plan}
        error={errors.plan}
        conflict={conflicts.plan ?? (quotas ? undefined : conflictOnQuotas)}
        disabled={isReadOnly}
        onChange={event => setPlan(event.target.value)}
      >
        {(kind === 'test' ? (['free'] as const) : plans).map(plan => (
          <option key={plan} value={plan}>
            {planWithLimits(plan)}
          </option>
        ))}
      </SelectField>
      {quotas && (
        <QuotaFields
          quotas={quotas}
          errors={errors}
          conflict={conflicts.quotas}
          isReadOnly={isReadOnly}
          onChange={quotas => onChange('quotas', quotas)}
        />
      )}
      <ChecksField
        label="What the key may do"
        names={scopeNames}
        choices={possibleScopes[kind]}
        chosen={item.scopes}
        error={errors.scopes}
        conflict={conflicts.scopes}
        disabled={isReadOnly}
        onChange={scopes => onChange('scopes', scopes)}
      />
      {kind === 'publishable' && (
        <LinesField
          label="Web addresses of the pages (origins), one per line"
          placeholder="https://shop.example"
          lines={origins ?? []}
          error={errors.origins}
          conflict={conflicts.origins}
          disabled={isReadOnly}
          onChange={origins => onChange('origins', origins)}
        />
      )}
      <LinesField
        label="Networks it may be used from, one per line (empty: any)"
        placeholder="203.0.113.0/24"
        lines={allowedNetworks ?? []}
        error={errors.allowedNetworks}
        conflict={conflicts.allowedNetworks}
        disabled={isReadOnly}
        onChange={networks => onChange('allowedNetworks', networks)}
      />
      <TextField
        label="Expires (empty: never)"
        type="datetime-local"
        max="9999-12-31T23:59"
        value={expiresAt ? localTimeOf(expiresAt) : ''}
        error={errors.expiresAt}
        conflict={conflicts.expiresAt}
        disabled={isReadOnly}
        onChange={({ target }) => onChange('expiresAt', instantOf(target.value) ?? null)}
      />
    </>
  );
}
