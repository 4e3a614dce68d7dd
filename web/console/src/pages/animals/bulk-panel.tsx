import type { Category, Pet, PetStatus } from '@petstore/client';
import { type ReactNode, useMemo, useState } from 'react';
import { useSession } from '../../app/session.ts';
import { type BulkChange, type BulkPlan, isReversible, isSale, planOf } from '../../data/bulk.ts';
import { type StatusFacts, statuses } from '../../data/pet-status.ts';
import { type BulkProgress, useBulk, useFacts } from '../../data/use-bulk.ts';
import { useCategories } from '../../data/use-categories.ts';
import { Button } from '../../kit/button.tsx';
import { CategoryOptions } from '../../kit/category-menu.tsx';
import { SelectField } from '../../kit/field.tsx';
import { inWords } from '../../kit/in-words.ts';
import { Panel } from '../../kit/panel.tsx';
import { statusNames } from '../../kit/status-names.ts';

/** The most animals that a list of the panel names. */
const SHOWN = 100;

interface BulkPanelProps {
  /** The selection with what changes meanwhile, so that the preview is true, and undo writes the values of before. */
  pets: readonly Pet[];
  /** Those that other clients have deleted. */
  gone: ReadonlySet<number>;
  /** Is called when the change has ended. */
  onDone: () => void;
  onClose: () => void;
}

/** Changes many animals: choose, see what will happen, follow it, and read what was rejected. */
export function BulkPanel({ pets, gone, onDone, onClose }: BulkPanelProps) {
  const [change, setChange] = useState<BulkChange>({ kind: 'status', status: 'available' });
  const { progress, run, stop } = useBulk();
  const { facts, isLoading, error } = useFacts(pets, change.kind !== 'category' && !progress);
  const categories = useCategories();
  const plan = useMemo(() => planOf(pets, change, facts, gone), [pets, change, facts, gone]);
  const count = inWords(plan.changed.length, 'animal');
  const isReady = change.kind === 'category' ? change.categoryId > 0 : error === null;

  async function start(): Promise<void> {
    const done = (count: number) => `${verbs[change.kind].done} ${inWords(count, 'animal')}`;
    const ended = await run(plan.changed, change, done);
    onDone();
    // The message says the rest.
    if (ended && ended.done === ended.total && ended.failed.length === 0) onClose();
  }

  return (
    <Panel
      title={`Change ${inWords(progress?.total ?? pets.length, 'animal')}`}
      onClose={progress?.isRunning ? stop : onClose}
    >
      <div className="panel-body">
        {progress ? (
          <Progress progress={progress} />
        ) : (
          <>
            <ChangeFields change={change} categories={categories} onChange={setChange} />
            {error && <p className="field-error">{error.message}</p>}
            {isReady && (
              <Preview
                plan={plan}
                change={change}
                facts={facts}
                categories={categories}
                isChecking={isLoading}
              />
            )}
          </>
        )}
      </div>
      <footer className="panel-footer">
        {progress?.isRunning ? (
          <Button onClick={stop}>Stop</Button>
        ) : (
          <Button onClick={onClose}>Close</Button>
        )}
        {!progress && (
          <Button
            kind={change.kind === 'delete' ? 'danger' : 'main'}
            disabled={!isReady || isLoading || plan.changed.length === 0}
            onClick={start}
          >
            {verbs[change.kind].button} {count}
          </Button>
        )}
      </footer>
    </Panel>
  );
}

const verbs = {
  status: { button: 'Change', done: 'Changed' },
  category: { button: 'Change', done: 'Changed' },
  delete: { button: 'Delete', done: 'Deleted' },
} as const;

interface ChangeFieldsProps {
  change: BulkChange;
  categories: readonly Category[];
  onChange: (change: BulkChange) => void;
}

function ChangeFields({ change, categories, onChange }: ChangeFieldsProps) {
  const starts: Record<BulkChange['kind'], BulkChange> = {
    status: { kind: 'status', status: 'available' },
    category: { kind: 'category', categoryId: 0 },
    delete: { kind: 'delete' },
  };
  return (
    <>
      <SelectField
        label="What to change"
        value={change.kind}
        onChange={event => onChange(starts[event.target.value as BulkChange['kind']])}
      >
        <option value="status">Status</option>
        <option value="category">Category</option>
        <option value="delete">Delete</option>
      </SelectField>
      {change.kind === 'status' && (
        <SelectField
          label="New status"
          value={change.status}
          onChange={event => onChange({ kind: 'status', status: event.target.value as PetStatus })}
        >
          {statuses.map(status => (
            <option key={status} value={status}>
              {statusNames[status]}
            </option>
          ))}
        </SelectField>
      )}
      {change.kind === 'category' && (
        <SelectField
          label="New category"
          value={change.categoryId || ''}
          onChange={event => onChange({ kind: 'category', categoryId: Number(event.target.value) })}
        >
          <option value="">Choose a category</option>
          <CategoryOptions categories={categories} />
        </SelectField>
      )}
    </>
  );
}

interface PreviewProps {
  plan: BulkPlan;
  change: BulkChange;
  facts: ReadonlyMap<number, StatusFacts>;
  categories: readonly Category[];
  isChecking: boolean;
}

function Preview({ plan, change, facts, categories, isChecking }: PreviewProps) {
  const { can } = useSession();
  const { changed, same, rejected } = plan;
  const stockOf = ({ id }: Pet) => facts.get(id)?.stock;
  const units = changed.reduce((sum, pet) => sum + (stockOf(pet) ?? 0), 0);
  const now = ({ status = 'available', categoryId }: Pet) =>
    change.kind === 'category'
      ? (categories.find(({ id }) => id === categoryId)?.name ?? categoryId)
      : statusNames[status];
  if (isChecking) return <p role="status">Checking stock and open orders …</p>;
  return (
    <>
      <Group
        title={`${inWords(changed.length, 'animal')} will be ${change.kind === 'delete' ? 'deleted' : 'changed'}`}
        items={changed}
      >
        {pet => (
          <li key={pet.id}>
            {pet.name} <small>{now(pet)}</small>
            {isSale(change) && stockOf(pet) !== undefined && (
              <small> · {inWords(stockOf(pet) ?? 0, 'unit')}</small>
            )}
          </li>
        )}
      </Group>
      <Group
        title={`${inWords(rejected.length, 'animal')} cannot be changed and will be left out`}
        items={rejected}
      >
        {({ pet, reason }) => (
          <li key={pet.id}>
            {pet.name} <small>{reason}</small>
          </li>
        )}
      </Group>
      {same.length > 0 && <p>{inWords(same.length, 'animal')} will stay the same.</p>}
      {changed.length > 0 && (isSale(change) || change.kind === 'delete') && (
        <p className="note">
          {change.kind === 'delete'
            ? 'This cannot be undone. Completed orders keep the IDs.'
            : isReversible(change, can)
              ? units > changed.length
                ? `All ${inWords(units, 'unit')} leave the stock. To sell some of them, open the animal.`
                : 'Their stock becomes 0.'
              : 'Their stock becomes 0. To offer them again, set a new stock. You cannot undo this here.'}
        </p>
      )}
    </>
  );
}

function Progress({ progress: { total, done, failed, isRunning, error } }: { progress: BulkProgress }) {
  return (
    <>
      <progress aria-label="Progress" max={total} value={done} />
      <p role="status">
        {isRunning
          ? `${done.toLocaleString()} of ${inWords(total, 'animal')} done`
          : `${(done - failed.length).toLocaleString()} of ${inWords(total, 'animal')} changed`}
      </p>
      {error && (
        <p className="field-error" role="alert">
          {error}
        </p>
      )}
      <Group title={`Rejected: ${inWords(failed.length, 'animal')}`} items={failed}>
        {({ pet, message }) => (
          <li key={pet.id}>
            {pet.name} <small>{message}</small>
          </li>
        )}
      </Group>
    </>
  );
}

interface GroupProps<T> {
  title: string;
  items: readonly T[];
  children: (item: T) => ReactNode;
}

function Group<T>({ title, items, children }: GroupProps<T>) {
  if (items.length === 0) return null;
  return (
    <section className="bulk-group">
      <h3>{title}</h3>
      <ul>
        {items.slice(0, SHOWN).map(children)}
        {items.length > SHOWN && <li>… and {(items.length - SHOWN).toLocaleString()} more</li>}
      </ul>
    </section>
  );
}
