import type { Account, PlanRequest } from '@petstore/client';
import { useState } from 'react';
import { useDraft } from '../../data/draft.ts';
import { planNames, planWithLimits } from '../../data/key-words.ts';
import { plans } from '../../data/keys.ts';
import { useRequestPlan } from '../../data/own-account.ts';
import { useSubmit } from '../../data/submit.ts';
import { Button } from '../../kit/button.tsx';
import { SelectField, TextField } from '../../kit/field.tsx';
import { Time } from '../../kit/time.tsx';
import { QUOTAS, QuotaFields, quotaFields } from '../keys/quota-fields.tsx';

const statusWords: Record<PlanRequest['status'], string> = {
  open: 'An administrator has not decided yet.',
  approved: 'An administrator approved it.',
  declined: 'An administrator declined it.',
};

/** The newest request of the key, and unless it is open the form for another one. */
export function LargerPlan({ account }: { account: Account }) {
  const { planRequest } = account;
  return (
    <section className="own-part" aria-label="Another plan">
      <h2>Another plan</h2>
      {planRequest && (
        <p>
          Requested {planNames[planRequest.plan]} <Time at={planRequest.createdAt} />.{' '}
          {statusWords[planRequest.status]}
          {planRequest.message && <q>{planRequest.message}</q>}
        </p>
      )}
      {/* Another plan is the next one after a request was approved. */}
      {planRequest?.status !== 'open' && <Form key={account.plan} plan={account.plan} />}
    </section>
  );
}

function Form({ plan: present }: Pick<Account, 'plan'>) {
  const request = useRequestPlan();
  const [empty] = useState({ plan: plans[plans.indexOf(present) + 1] ?? present, quotas: QUOTAS, note: '' });
  const [draft, set, , , finish] = useDraft(`plan-request.${present}`, empty);
  const { plan, quotas, note } = draft;
  const form = useSubmit(['plan', 'note', ...quotaFields], async () => {
    await request({
      plan,
      ...(plan === 'enterprise' && { quotas }),
      ...(note.trim() !== '' && { note: note.trim() }),
    });
    finish(draft);
  });
  const { fields, general } = form.errors;
  return (
    <form onSubmit={form.submit}>
      <p className="hint">
        An administrator decides. The request costs no quota, and works while the limits are used up.
      </p>
      <SelectField
        label="Plan"
        value={plan}
        error={fields.plan}
        onChange={({ target }) => set('plan', plans.find(plan => plan === target.value) ?? plan)}
      >
        {/* Only Enterprise has other limits than the present ones. */}
        {plans
          .filter(plan => plan === 'enterprise' || plan !== present)
          .map(plan => (
            <option key={plan} value={plan}>
              {planWithLimits(plan)}
            </option>
          ))}
      </SelectField>
      {plan === 'enterprise' && (
        <QuotaFields quotas={quotas} errors={fields} onChange={quotas => set('quotas', quotas)} />
      )}
      <TextField
        label="Why (optional)"
        value={note}
        maxLength={500}
        error={fields.note}
        onChange={({ target }) => set('note', target.value)}
      />
      {general && (
        <p className="field-error" role="alert">
          {general}
        </p>
      )}
      <Button kind="main" type="submit" disabled={form.isBusy}>
        Request
      </Button>
    </form>
  );
}
