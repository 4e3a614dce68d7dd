import type { Pet, PetStatus } from '@petstore/client';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useSession } from '../../app/session.ts';
import { useActions } from '../../data/changes.ts';
import { putItem } from '../../data/list-cache.ts';
import { reasonAgainst, statuses } from '../../data/pet-status.ts';
import { pets } from '../../data/pets.ts';
import { Icon } from '../../kit/icon.tsx';
import { Menu } from '../../kit/menu.tsx';
import { Question } from '../../kit/panel.tsx';
import { showProblem } from '../../kit/toasts.ts';

export const statusNames: Record<PetStatus, string> = {
  available: 'Available',
  pending: 'Pending',
  sold: 'Sold',
};

/** The status of a pet. For keys that may write, it is the button of a menu with the statuses that the pet can get. */
export function StatusMenu({ pet }: { pet: Pet }) {
  const { store, cache, can } = useSession();
  const { change } = useActions(pets);
  const [isOpen, setOpen] = useState(false);
  const [isAsking, setAsking] = useState(false);
  const { id, name, status = 'available' } = pet;
  const { data: facts = { stock: undefined, hasOpenOrders: undefined } } = useQuery({
    queryKey: [pets.name, 'facts', id],
    queryFn: async () => {
      const [item, order] = await Promise.all([
        can('inventory:read') ? store.inventory.get(id) : undefined,
        can('orders:read') ? store.orders.list({ petId: id, complete: false, limit: 1 }).first() : undefined,
      ]);
      return { stock: item?.quantity, hasOpenOrders: can('orders:read') ? order !== undefined : undefined };
    },
    enabled: isOpen,
    staleTime: 0,
    gcTime: 0,
  });
  const badge = (
    <span className="status" data-status={status}>
      {statusNames[status]}
    </span>
  );
  if (!can('pets:write')) return badge;

  const { stock } = facts;
  /** A sale sets the stock to 0, so to undo it sets the stock again. */
  const isReversible = (to: PetStatus) => to !== 'sold' || (stock !== undefined && can('inventory:write'));

  function choose(to: PetStatus): void {
    const options = {
      done: `${name} is ${statusNames[to].toLowerCase()}`,
      ...(to === 'sold' && isReversible(to) && stock ? { undo: () => undoSale(stock) } : {}),
    };
    change(pet, { status: to }, options).catch(showProblem);
  }

  async function undoSale(stock: number): Promise<void> {
    await store.inventory.set(id, { quantity: stock });
    if (status === 'pending') await store.pets.update(id, { status });
    putItem(cache, pets, pet);
  }

  return (
    <>
      <Menu
        label={`Status of ${name}: ${statusNames[status]}`}
        onOpen={() => setOpen(true)}
        items={statuses.map(to => ({
          label: (
            <>
              <span className="status" data-status={to}>
                {statusNames[to]}
              </span>
              {to === status && <Icon name="check" />}
            </>
          ),
          isCurrent: to === status,
          reason: reasonAgainst(status, to, facts),
          onChoose: () => (isReversible(to) ? choose(to) : setAsking(true)),
        }))}
      >
        {badge}
        <Icon name="down" />
      </Menu>
      {isAsking && (
        <Question
          title={`Mark ${name} as sold?`}
          action="Mark as sold"
          onClose={() => setAsking(false)}
          onConfirm={() => {
            setAsking(false);
            choose('sold');
          }}
        >
          <p>Its stock becomes 0. Your API key may not change stock, so you cannot undo this.</p>
        </Question>
      )}
    </>
  );
}
