import type { ApiKey } from '@petstore/client';
import { type Conflict, TextField } from '../../kit/field.tsx';

type Quotas = NonNullable<ApiKey['quotas']>;

/** The names of the fields next to which errors are shown. */
export const quotaFields = ['quotas', 'quotas.perMinute', 'quotas.perDay'];

/** What an Enterprise key gets unless the user changes it. */
export const QUOTAS: Quotas = { perMinute: 5_000, perDay: 1_000_000 };

interface QuotaFieldsProps {
  quotas: Quotas;
  errors: Partial<Record<string, string>>;
  conflict?: Conflict | undefined;
  isReadOnly?: boolean;
  onChange: (quotas: Quotas) => void;
}

/** The limits of an Enterprise key. */
export function QuotaFields({ quotas, errors, conflict, isReadOnly, onChange }: QuotaFieldsProps) {
  return (
    <>
      <TextField
        label="Requests per minute"
        inputMode="numeric"
        value={quotas.perMinute || ''}
        error={errors['quotas.perMinute'] ?? errors.quotas}
        conflict={conflict}
        disabled={isReadOnly}
        onChange={event => onChange({ ...quotas, perMinute: numberIn(event.target.value) })}
      />
      <TextField
        label="Requests per day"
        inputMode="numeric"
        value={quotas.perDay || ''}
        error={errors['quotas.perDay']}
        disabled={isReadOnly}
        onChange={event => onChange({ ...quotas, perDay: numberIn(event.target.value) })}
      />
    </>
  );
}

/** The number of what was typed, without separators; 0 if there is none. */
function numberIn(text: string): number {
  return Number(text.replaceAll(/\D/g, ''));
}
