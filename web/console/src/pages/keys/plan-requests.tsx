import type { PlanRequest } from '@petstore/client';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { planInWords, planNames } from '../../data/key-words.ts';
import { useDecidePlan, usePlanRequests } from '../../data/plan-requests.ts';
import { Button } from '../../kit/button.tsx';
import { TextField } from '../../kit/field.tsx';
import { useOneAtATime } from '../../kit/one-at-a-time.ts';
import { Question } from '../../kit/panel.tsx';
import { Time } from '../../kit/time.tsx';
import { useToasts } from '../../kit/toasts.ts';

/** The plans that keys have requested, above the list of keys: one click approves one. */
export function PlanRequests() {
  const { data: requests } = usePlanRequests();
  const { approve, decline } = useDecidePlan();
  const toasts = useToasts();
  const oneAtATime = useOneAtATime();
  const [declining, setDeclining] = useState<PlanRequest>();
  const [message, setMessage] = useState('');
  const [problem, setProblem] = useState<string>();
  // A question stays when another administrator has decided meanwhile: the rejection of a second decision says so.
  if (!declining && (!requests || requests.length === 0)) return null;

  function ask(request: PlanRequest, text: string): void {
    setDeclining(request);
    setMessage(text);
    setProblem(undefined);
  }
  function run(work: () => Promise<void>, text: string): void {
    setDeclining(undefined);
    oneAtATime.run(() => work().then(() => void toasts.show({ text }), toasts.showProblem));
  }

  return (
    <ul className="plan-requests" aria-label="Plan requests">
      {requests?.map(request => (
        <li key={request.id}>
          <span>
            <Link to="/keys/$keyId" params={{ keyId: String(request.keyId) }} search={previous => previous}>
              <strong>{request.name}</strong>
            </Link>{' '}
            requests the plan {planInWords(request)} <Time at={request.createdAt} />
            {request.note && <small>{request.note}</small>}
          </span>
          <Button
            disabled={oneAtATime.isBusy}
            onClick={() =>
              run(() => approve(request.id), `${request.name} has the plan ${planNames[request.plan]}`)
            }
          >
            Approve
          </Button>
          <Button disabled={oneAtATime.isBusy} onClick={() => ask(request, '')}>
            Decline
          </Button>
        </li>
      ))}
      {declining && (
        <Question
          title={`Decline the request of ${declining.name}?`}
          action="Decline"
          dismissal="Not yet"
          onClose={() => setDeclining(undefined)}
          onConfirm={() => {
            if (message.trim() === '') setProblem('Write why, for the holder of the key');
            else
              run(() => decline(declining.id, message.trim()), `Declined the request of ${declining.name}`);
          }}
        >
          <TextField
            label="A message for the holder of the key"
            value={message}
            maxLength={500}
            error={problem}
            onChange={event => ask(declining, event.target.value)}
          />
        </Question>
      )}
    </ul>
  );
}
