import { type FormEvent, useState } from 'react';
import { useIsShown } from '../kit/is-shown.ts';
import { useOneAtATime } from '../kit/one-at-a-time.ts';
import { useToasts } from '../kit/toasts.ts';
import { formErrors, noErrors } from './form-errors.ts';

/**
 * The state of a form. `send` runs when the user submits it, unless an earlier request of the form still runs. What the service said about
 * its fields stays until the next try, or until `forget` is called because it no longer applies.
 */
export function useSubmit(fields: readonly string[], send: () => Promise<void>) {
  const [errors, setErrors] = useState(noErrors);
  const oneAtATime = useOneAtATime();
  const isShown = useIsShown();
  const toasts = useToasts();
  function run(work: () => Promise<void>): void {
    oneAtATime.run(() => {
      setErrors(noErrors);
      return work().catch(error => {
        // The user has closed the form meanwhile.
        if (isShown()) setErrors(formErrors(error, fields));
        else toasts.showProblem(error);
      });
    });
  }
  function submit(event: FormEvent): void {
    event.preventDefault();
    run(send);
  }
  return { errors, isBusy: oneAtATime.isBusy, submit, run, forget: () => setErrors(noErrors) };
}
