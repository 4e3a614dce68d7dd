import type { Webhook } from '@petstore/client';
import type { FieldsProps } from '../../data/forms.ts';
import { TextField } from '../../kit/field.tsx';
import { LinesField } from '../../kit/field-groups.tsx';

export type WebhookSettings = Pick<Webhook, 'url' | 'types' | 'description'>;

/** The names of the fields next to which errors are shown. */
export const webhookFields = ['url', 'types', 'description'];

export function WebhookFields(props: FieldsProps<WebhookSettings>) {
  const { item, errors, conflicts = {}, isReadOnly = false, onChange } = props;
  return (
    <>
      <TextField
        label="URL"
        inputMode="url"
        placeholder="https://shop.example/events"
        value={item.url}
        error={errors.url}
        conflict={conflicts.url}
        disabled={isReadOnly}
        onChange={event => onChange('url', event.target.value)}
      />
      <LinesField
        label="Event types, one per line (empty: all)"
        placeholder="order.*"
        lines={item.types ?? []}
        error={errors.types}
        conflict={conflicts.types}
        disabled={isReadOnly}
        onChange={types => onChange('types', types.length > 0 ? types : null)}
      />
      <TextField
        label="Description"
        value={item.description ?? ''}
        error={errors.description}
        conflict={conflicts.description}
        disabled={isReadOnly}
        onChange={event => onChange('description', event.target.value)}
      />
    </>
  );
}
