import type { Order } from '@petstore/client';
import { instantOf, localTimeOf } from '../../data/days.ts';
import type { FieldsProps } from '../../data/forms.ts';
import { TextField } from '../../kit/field.tsx';
import { PetField } from './pet-picker.tsx';

export type NewOrderFields = Pick<Order, 'petId' | 'quantity' | 'shipDate'>;

interface OrderFieldsProps extends FieldsProps<NewOrderFields> {
  /** The order as it is stored; absent for a new one. */
  stored?: Order;
}

export function Fields(props: OrderFieldsProps) {
  const { item, stored, errors, conflicts, isReadOnly = false, onChange, forget } = props;
  // Only the ship date of a completed order can change.
  const isFixed = isReadOnly || stored?.complete === true;
  return (
    <>
      <PetField
        label="Animal"
        petId={item.petId}
        forOrder={{ own: stored?.petId }}
        placeholder="Search animals"
        error={errors.petId}
        conflict={conflicts?.petId}
        disabled={isFixed}
        onChoose={petId => {
          // The reason of a rejection is about the animal before.
          forget();
          onChange('petId', petId);
        }}
      />
      <TextField
        label="Units"
        type="number"
        inputMode="numeric"
        step="any"
        placeholder="1"
        required={stored !== undefined}
        value={item.quantity ?? ''}
        error={errors.quantity}
        conflict={conflicts?.quantity}
        disabled={isFixed}
        onChange={({ target }) =>
          onChange('quantity', target.value === '' ? undefined : target.valueAsNumber)
        }
      />
      <TextField
        label="Ships"
        type="datetime-local"
        max="9999-12-31T23:59"
        value={item.shipDate ? localTimeOf(item.shipDate) : ''}
        error={errors.shipDate}
        conflict={conflicts?.shipDate}
        disabled={isReadOnly}
        onChange={({ target }) => onChange('shipDate', instantOf(target.value))}
      />
    </>
  );
}

/** A ship date as the user reads it. */
export function shownDate(iso: string | undefined): string {
  return iso === undefined ? 'no date' : new Date(iso).toLocaleString();
}
