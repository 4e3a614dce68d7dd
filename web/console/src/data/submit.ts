import { type FormEvent, useRef, useState } from 'react';
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
  /** Whether the errors of the request that runs still apply. */
  const applies = useRef(true);
  const oneAtATime = useOneAtATime();
  const isShown = useIsShown();
  const toasts = useToasts();
  function run(work: () => Promise<void>): void {
    oneAtATime.run(() => {
      applies.current = true;
      setErrors(noErrors);
      return work().catch(error => {
        // Otherwise the user has closed the form meanwhile, or chosen something else in it.
        if (isShown() && applies.current) setErrors(formErrors(error, fields));
        else toasts.showProblem(error);
      });
    });
  }
  function submit(event: FormEvent): void {
    event.preventDefault();
    run(send);
  }
  function forget(): void {
    applies.current = false;
    setErrors(noErrors);
  }
  return { errors, isBusy: oneAtATime.isBusy, submit, run, forget };
}
