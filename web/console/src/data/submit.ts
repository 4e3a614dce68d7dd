import { type FormEvent, useState } from 'react';
import { formErrors, noErrors } from './form-errors.ts';

/** The state of a form. `send` runs when the user submits it. What the service said about its fields stays until the next try. */
export function useSubmit(fields: readonly string[], send: () => Promise<void>) {
  const [errors, setErrors] = useState(noErrors);
  const [isBusy, setBusy] = useState(false);
  function run(work: () => Promise<void>): void {
    setBusy(true);
    setErrors(noErrors);
    work()
      .catch(error => setErrors(formErrors(error, fields)))
      .finally(() => setBusy(false));
  }
  function submit(event: FormEvent): void {
    event.preventDefault();
    run(send);
  }
  return { errors, isBusy, submit, run };
}
