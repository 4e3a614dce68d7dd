import type { Pet, PetStatus } from '@petstore/client';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useSession } from '../../app/session.ts';
import { type ChangeOptions, updateOnce, useActions } from '../../data/changes.ts';
import { putItem } from '../../data/list-cache.ts';
import { reasonAgainst, statuses } from '../../data/pet-status.ts';
import { pets } from '../../data/pets.ts';
import { stock } from '../../data/stock.ts';
import { showStock } from '../../data/stock-of.ts';
import { askingToLeave } from '../../kit/asking-to-leave.ts';
import { Icon } from '../../kit/icon.tsx';
import { Menu } from '../../kit/menu.tsx';
import { Question } from '../../kit/panel.tsx';
import { Status } from '../../kit/status.tsx';
import { statusNames } from '../../kit/status-names.ts';
import { useToasts } from '../../kit/toasts.ts';

/** The status of a pet. For keys that may write, it is the button of a menu with the statuses that the pet can get. */
export function StatusMenu({ pet }: { pet: Pet }) {
  const session = useSession();
  const { store, cache, can } = session;
  const toasts = useToasts();
  const { change } = useActions(pets);
  const navigate = useNavigate();
  /** What the question about a sale is about: the units, if they are known. */
  const [asked, setAsked] = useState<{ units: number | undefined }>();
  const { id, name, status = 'available' } = pet;
  const { data: facts = { stock: undefined, hasOpenOrders: undefined }, refetch } = useQuery({
    queryKey: [pets.name, 'facts', id],
    queryFn: async () => {
      const [item, order] = await Promise.all([
        can('inventory:read') ? store.inventory.get(id) : undefined,
        can('orders:read') ? store.orders.list({ petId: id, complete: false, limit: 1 }).first() : undefined,
      ]);
      return { stock: item?.quantity, hasOpenOrders: can('orders:read') ? order !== undefined : undefined };
    },
    // Each opening of the menu reads it.
    enabled: false,
    gcTime: 0,
  });
  const badge = <Status status={status} />;
  if (!can('pets:write')) return badge;

  function choose(to: PetStatus, undo?: ChangeOptions['undo']): void {
    const done = `${name} is ${statusNames[to].toLowerCase()}`;
    change(pet, { status: to }, { done, ...(undo !== undefined && { undo }) }).catch(toasts.showProblem);
  }

  /**
   * A sale sets the stock to 0, so to undo it needs the stock of before. It asks unless the animal is the only one, or the user has
   * `agreed` to sell this number of units.
   */
  async function sell(agreed?: number): Promise<void> {
    if (!can('inventory:read') || !can('inventory:write')) return setAsked({ units: undefined });
    const { quantity: units } = await store.inventory.get(id);
    if (units === 1 || units === agreed) choose('sold', () => undoSale(units));
    else setAsked({ units: units || undefined });
  }

  function startSale(agreed?: number): void {
    askingToLeave(() => sell(agreed)).catch(toasts.showProblem);
  }

  async function undoSale(units: number): Promise<void> {
    const { data, etag } = await store.inventory.get(id).withResponse();
    if (data.quantity > 0) throw new Error('Not undone: its stock has changed since then');
    showStock(cache, (await updateOnce(session, stock, id, { quantity: units }, etag)).data);
    if (status === 'pending') await store.pets.update(id, { status });
    putItem(cache, pets, (await pets.read(store, id)).data);
  }

  return (
    <>
      <Menu
        label={`Status of ${name}: ${statusNames[status]}`}
        onOpen={refetch}
        items={[
          ...statuses.map(to => ({
            label: (
              <>
                <Status status={to} />
                {to === status && <Icon name="check" />}
              </>
            ),
            isCurrent: to === status,
            reason: reasonAgainst(status, to, facts),
            onChoose: () => (to === 'sold' ? startSale() : choose(to)),
          })),
          ...(facts.hasOpenOrders
            ? [
                {
                  label: 'Show its open orders',
                  onChoose: () => navigate({ to: '/orders', search: { petId: id, complete: false } }),
                },
              ]
            : []),
        ]}
      >
        {badge}
        <Icon name="down" />
      </Menu>
      {asked && (
        <Question
          title={`Mark ${name} as sold?`}
          action={asked.units ? `Sell all ${asked.units.toLocaleString()}` : 'Mark as sold'}
          onClose={() => setAsked(undefined)}
          onConfirm={() => {
            const { units } = asked;
            setAsked(undefined);
            // The stock can have changed since the question.
            if (units !== undefined) startSale(units);
            else choose('sold', false);
          }}
        >
          <p>
            {asked.units
              ? `All ${asked.units.toLocaleString()} units leave the stock. To sell some of them, open the animal.`
              : 'Its stock becomes 0. To offer it again, set a new stock. You cannot undo this here.'}
          </p>
        </Question>
      )}
    </>
  );
}
