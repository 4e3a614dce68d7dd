import type { Pet, PlanRequest, Webhook } from '@petstore/client';
import { Link } from '@tanstack/react-router';
import { type RefObject, useEffect, useMemo, useRef, useState } from 'react';
import { useSession } from '../../app/session.ts';
import { useActions } from '../../data/changes.ts';
import { addDays } from '../../data/days.ts';
import { missingRights, planInWords } from '../../data/key-words.ts';
import { MOST_STOCK_CHANGES } from '../../data/low-stock.ts';
import { usePetNames } from '../../data/pet-names.ts';
import { pets } from '../../data/pets.ts';
import { MOST_PLAN_REQUESTS } from '../../data/plan-requests.ts';
import type { ToDo } from '../../data/to-do.ts';
import { Button } from '../../kit/button.tsx';
import { leadsBack } from '../../kit/close.ts';
import { Empty } from '../../kit/empty.tsx';
import { inWords } from '../../kit/in-words.ts';
import { lazyPart } from '../../kit/lazy-part.tsx';
import { Time } from '../../kit/time.tsx';
import { useToasts } from '../../kit/toasts.ts';
import { DueOrders } from './due-orders.tsx';
import { LowStock } from './low-stock.tsx';
import { Task } from './task.tsx';

const Thresholds = lazyPart(
  () => import('../stock/thresholds.tsx'),
  'Thresholds',
  () => null,
);

/** What is to be done. While the pointer is on it, nothing moves: what is done stays in its place, with its new stock. */
export function ToDoList({ toDo }: { toDo: ToDo }) {
  const place = useRef<HTMLDivElement>(null);
  const isPointed = useIsPointed(place);
  const [hasThresholds, setThresholds] = useState(false);
  const shown = useRef(toDo);
  if (!isPointed || !shown.current.isReady) shown.current = toDo;
  return (
    <>
      <div ref={place} className="to-do">
        <Tasks
          toDo={{ ...shown.current, latestStock: toDo.latestStock }}
          onThresholds={() => setThresholds(true)}
        />
      </div>
      {hasThresholds && <Thresholds onClose={() => setThresholds(false)} />}
    </>
  );
}

/** How long the pointer counts as being on an element after a touch, in milliseconds: the user may touch the next line. */
const TOUCH = 10_000;

/** Whether the pointer is on an element. What leaves the page under the pointer has no event that says that it was left. */
function useIsPointed(element: RefObject<HTMLElement | null>): boolean {
  const [isPointed, setPointed] = useState(false);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = ({ target, pointerType }: PointerEvent) => {
      clearTimeout(timer);
      setPointed(target instanceof Node && element.current?.contains(target) === true);
      if (pointerType === 'touch') timer = setTimeout(() => setPointed(false), TOUCH);
    };
    document.addEventListener('pointerover', look);
    return () => {
      clearTimeout(timer);
      document.removeEventListener('pointerover', look);
    };
  }, [element]);
  return isPointed;
}

function Tasks({ toDo, onThresholds }: { toDo: ToDo; onThresholds: () => void }) {
  const {
    today,
    overdue,
    shipping,
    low,
    latestStock,
    holds = [],
    webhooks = [],
    planRequests = [],
    hasAnimals,
    knowsStock,
    isDone,
    error,
  } = toDo;
  const ids = useMemo(
    () => [...(overdue?.orders ?? []), ...(shipping?.orders ?? [])].map(({ petId }) => petId),
    [overdue, shipping],
  );
  const nameOf = usePetNames(ids);
  if (!hasAnimals) return <FirstSteps />;
  if (isDone && !error) return <AllDone knowsStock={knowsStock} />;
  return (
    <>
      <DueOrders due={overdue} isLate isMain to={addDays(today, -1)} nameOf={nameOf} />
      <DueOrders
        due={shipping}
        isLate={false}
        isMain={(overdue?.orders.length ?? 0) < 2}
        from={today}
        to={today}
        nameOf={nameOf}
      />
      <LowStock items={low} latest={latestStock} onThresholds={onThresholds} />
      <Holds held={holds} />
      <FailingWebhooks webhooks={webhooks} />
      <RequestedPlans requests={planRequests} />
      {error && (
        <p className="field-error" role="alert">
          Not everything that is to be done could be read: {error.message}
        </p>
      )}
    </>
  );
}

/** What a key has to see to know that all is done. */
const needed = ['pets:read', 'orders:read', 'inventory:read', 'events:read'] as const;

/** `knowsStock` is whether all changes of stock were read. */
function AllDone({ knowsStock }: { knowsStock: boolean }) {
  const { account, can } = useSession();
  // `can` denies the scope for events to a key that has no other one: the others are what this key lacks.
  const missing = needed.filter(scope => !can(scope) && !account.scopes.includes(scope));
  if (missing.length > 0)
    return (
      <Empty picture="lock" title="Nothing to do, as far as this key can see">
        <p>{missingRights(account.name, missing)}</p>
      </Empty>
    );
  return (
    <Empty picture="done" title="All done">
      <p>
        No order waits for today, and{' '}
        {knowsStock
          ? 'nothing is low'
          : `none of the latest ${MOST_STOCK_CHANGES.toLocaleString()} changes of stock has left an animal low`}
        . Enjoy your coffee.
      </p>
    </Empty>
  );
}

function FirstSteps() {
  const { can } = useSession();
  return (
    <Empty picture="shop" title="There are no animals yet">
      {can('pets:write') && (
        <p>
          <Link to="/categories/new">Add a category</Link>, then <Link to="/animals/new">an animal</Link>, or{' '}
          <Link to="/import">import a CSV file</Link>.
        </p>
      )}
    </Empty>
  );
}

function Holds({ held }: { held: readonly Pet[] }) {
  const { can } = useSession();
  const { change } = useActions(pets);
  const toasts = useToasts();
  if (held.length === 0) return null;
  const release = (pet: Pet) =>
    change(pet, { status: 'available' }, { done: `${pet.name} is available` }).catch(toasts.showProblem);
  return (
    <Task
      icon="paw"
      title={`${inWords(held.length, 'animal')} on hold for more than a week`}
      items={held}
      all={
        <Link to="/animals" search={{ status: 'pending' }}>
          Show all animals on hold
        </Link>
      }
    >
      {pet => (
        <li key={pet.id}>
          <Link to="/animals/$petId" params={{ petId: String(pet.id) }} state={leadsBack}>
            {pet.name}
          </Link>
          {can('pets:write') && (
            <Button aria-label={`Make available: ${pet.name}`} onClick={() => release(pet)}>
              Make available
            </Button>
          )}
        </li>
      )}
    </Task>
  );
}

function FailingWebhooks({ webhooks }: { webhooks: readonly Webhook[] }) {
  if (webhooks.length === 0) return null;
  return (
    <Task
      icon="webhook"
      title={`${inWords(webhooks.length, 'webhook')} cannot deliver`}
      isLate
      items={webhooks}
      all={<Link to="/webhooks">Show all webhooks</Link>}
    >
      {({ id, url, description, enabled, failingSince, disabledAt }) => (
        <li key={id}>
          <Link to="/webhooks/$webhookId" params={{ webhookId: String(id) }} state={leadsBack}>
            {description || url}
          </Link>
          <small>
            {enabled ? 'Fails since ' : 'Disabled '}
            {(failingSince ?? disabledAt) && <Time at={(failingSince ?? disabledAt)!} />}
          </small>
          <Link className="button" to="/webhooks/$webhookId" params={{ webhookId: String(id) }}>
            See why
          </Link>
        </li>
      )}
    </Task>
  );
}

function RequestedPlans({ requests }: { requests: readonly PlanRequest[] }) {
  if (requests.length === 0) return null;
  return (
    <Task
      icon="key"
      title={`${inWords(requests.length, 'plan request', requests.length >= MOST_PLAN_REQUESTS)} to decide`}
      items={requests}
      all={<Link to="/keys">Show all plan requests</Link>}
    >
      {request => (
        <li key={request.id}>
          <Link to="/keys/$keyId" params={{ keyId: String(request.keyId) }} state={leadsBack}>
            {request.name}
          </Link>
          <small>{planInWords(request)}</small>
          <Link className="button" to="/keys">
            Decide
          </Link>
        </li>
      )}
    </Task>
  );
}
