// Mistakes that the compiler has to find: it reports each comment whose next statement compiles.
import { type ApiError, connect, type KnownEvent, type Pet } from './client.ts';

const shop = connect('http://127.0.0.1:8080', 'psk_…');

export async function requests(): Promise<void> {
  // @ts-expect-error A field that does not exist
  await shop.createPet({ name: 'Ada', categoryId: 1, colour: 'brown' });
  // @ts-expect-error A required field is missing
  await shop.createPet({ name: 'Ada' });
  // @ts-expect-error A wrong type
  await shop.createPet({ name: 'Ada', categoryId: '1' });
  // @ts-expect-error A value that is not in the enumeration
  await shop.createPet({ name: 'Ada', categoryId: 1, status: 'lost' });
  // @ts-expect-error A value that cannot be removed
  await shop.createPet({ name: null, categoryId: 1 });
  // @ts-expect-error A parameter that does not exist
  await shop.listPets({ colour: 'brown' });
  // @ts-expect-error A wrong type of a parameter
  await shop.listPets({ limit: 'all' });
  // @ts-expect-error A wrong type in a patch
  await shop.changeOrder(1, { quantity: 'two' });
  // @ts-expect-error A scope that does not exist
  await shop.createApiKey({ name: 'Till', plan: 'pro', scopes: ['pets:eat'] });
}

export async function responses(pet: Pet): Promise<void> {
  // @ts-expect-error A field that does not exist
  pet.colour;
  // @ts-expect-error A wrong type
  pet.name satisfies number;
  const { data, error } = await shop.changeOrder(1, {});
  // @ts-expect-error A field that does not exist
  data?.colour;
  // @ts-expect-error A wrong type
  data?.quantity satisfies string | undefined;
  // @ts-expect-error A field that does not exist
  error?.reason;
}

export function errors(error: ApiError): void {
  // @ts-expect-error A wrong type
  error.status satisfies string;
}

export function events(event: KnownEvent): void {
  // @ts-expect-error A type that does not exist
  event.type === 'pet.born';
  // @ts-expect-error A field that only some events have
  event.data.name;
  if (event.type !== 'pet.created') return;
  // @ts-expect-error A field of another event
  event.data.quantity;
  // @ts-expect-error A wrong type
  event.data.name satisfies number;
}
