import { type FormEvent, useState } from 'react';
import { formErrors, noErrors } from './form-errors.ts';

/** Runs a form, and keeps what the service said about its fields until the next try. */
export function useSubmit(fields: readonly string[], run: () => Promise<void>) {
  const [errors, setErrors] = useState(noErrors);
  const [isBusy, setBusy] = useState(false);
  function submit(event: FormEvent): void {
    event.preventDefault();
    setBusy(true);
    setErrors(noErrors);
    run()
      .catch(error => setErrors(formErrors(error, fields)))
      .finally(() => setBusy(false));
  }
  return { errors, isBusy, submit };
}
