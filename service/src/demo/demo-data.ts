import type { NewApiKey } from '../access/api-keys/api-key.ts';

interface DemoCategory {
  name: string;
  description: string;
  /** The units in stock of each animal, by name. */
  pets: Record<string, number>;
}

export const demoCategories: readonly DemoCategory[] = [
  {
    name: 'Dogs',
    description: 'Puppies and grown dogs, vaccinated and chipped',
    pets: {
      'Biscuit the Beagle': 1,
      'Luna the Border Collie': 1,
      'Otto the Dachshund': 1,
      'Pepper the Poodle': 1,
      'Rufus the Labrador': 1,
    },
  },
  {
    name: 'Cats',
    description: 'Kittens and cats from breeders and shelters',
    pets: {
      'Cleo the Siamese': 1,
      'Mango the Ginger Tabby': 1,
      'Misty the Russian Blue': 1,
      'Oreo the Tuxedo': 1,
      'Willow the Maine Coon': 1,
    },
  },
  {
    name: 'Rabbits',
    description: 'Dwarf and full-size rabbits, best kept in pairs',
    pets: {
      'Clover the Holland Lop': 1,
      'Hazel the Netherland Dwarf': 1,
      'Thumper the Rex': 2,
      'Snowball the Angora': 1,
    },
  },
  {
    name: 'Small rodents',
    description: 'Hamsters, guinea pigs, gerbils and chinchillas',
    pets: {
      'Golden Hamster': 8,
      'Roborovski Hamster': 6,
      'Abyssinian Guinea Pig': 4,
      'Mongolian Gerbil': 10,
      'Chico the Chinchilla': 1,
    },
  },
  {
    name: 'Birds',
    description: 'Budgies, finches, canaries and parrots',
    pets: {
      Budgerigar: 12,
      'Zebra Finch': 15,
      'Red Factor Canary': 5,
      'Kiwi the Cockatiel': 1,
      'Echo the African Grey': 1,
    },
  },
  {
    name: 'Freshwater fish',
    description: 'For aquariums from 30 litres up',
    pets: { 'Neon Tetra': 120, 'Siamese Fighting Fish': 9, 'Fancy Guppy': 60, 'Corydoras Catfish': 24 },
  },
  {
    name: 'Marine fish',
    description: 'For established salt-water aquariums',
    pets: { 'Ocellaris Clownfish': 14, 'Royal Gramma': 4, 'Yellow Watchman Goby': 3 },
  },
  {
    name: 'Reptiles',
    description: 'Geckos, dragons, tortoises and snakes, with papers',
    pets: { 'Leopard Gecko': 5, 'Ziggy the Bearded Dragon': 1, 'Hermann’s Tortoise': 2, 'Corn Snake': 3 },
  },
  {
    name: 'Amphibians',
    description: 'Frogs, newts and axolotls',
    pets: { Axolotl: 6, 'White’s Tree Frog': 4, 'Fire-bellied Toad': 7 },
  },
  {
    name: 'Invertebrates',
    description: 'Tarantulas, stick insects and hermit crabs',
    pets: { 'Giant Prickly Stick Insect': 18, 'Caribbean Hermit Crab': 11 },
  },
];

interface DemoOrder {
  /** The animal's name; a draft has none. */
  pet?: string;
  quantity: number;
  /** How many days ago it was placed. */
  placedDaysAgo: number;
  /** When it ships, from now; earlier for orders that have shipped. */
  shipsInDays?: number;
  complete: boolean;
}

export const demoOrders: readonly DemoOrder[] = [
  // Sold: the last unit is paid and shipped.
  { pet: 'Otto the Dachshund', quantity: 1, complete: true, placedDaysAgo: 14, shipsInDays: -12 },
  { pet: 'Misty the Russian Blue', quantity: 1, complete: true, placedDaysAgo: 10, shipsInDays: -9 },
  { pet: 'Snowball the Angora', quantity: 1, complete: true, placedDaysAgo: 6, shipsInDays: -4 },
  { pet: 'Echo the African Grey', quantity: 1, complete: true, placedDaysAgo: 3, shipsInDays: -1 },
  // Overdue: it should have been shipped the day before yesterday.
  { pet: 'Abyssinian Guinea Pig', quantity: 1, complete: false, placedDaysAgo: 5, shipsInDays: -2 },
  // Shipping today.
  { pet: 'Fancy Guppy', quantity: 10, complete: false, placedDaysAgo: 2, shipsInDays: 0 },
  { pet: 'Budgerigar', quantity: 2, complete: false, placedDaysAgo: 2, shipsInDays: 0 },
  { pet: 'Axolotl', quantity: 1, complete: false, placedDaysAgo: 1, shipsInDays: 0 },
  // Pending: an open order reserves the last unit.
  { pet: 'Luna the Border Collie', quantity: 1, complete: false, placedDaysAgo: 1, shipsInDays: 3 },
  { pet: 'Cleo the Siamese', quantity: 1, complete: false, placedDaysAgo: 1, shipsInDays: 5 },
  { pet: 'Thumper the Rex', quantity: 2, complete: false, placedDaysAgo: 2, shipsInDays: 6 },
  { pet: 'Ziggy the Bearded Dragon', quantity: 1, complete: false, placedDaysAgo: 4 },
  // Part of a larger stock.
  { pet: 'Neon Tetra', quantity: 20, complete: true, placedDaysAgo: 9, shipsInDays: -7 },
  { pet: 'Neon Tetra', quantity: 12, complete: false, placedDaysAgo: 1, shipsInDays: 2 },
  { pet: 'Zebra Finch', quantity: 2, complete: false, placedDaysAgo: 1, shipsInDays: 4 },
  { pet: 'Golden Hamster', quantity: 1, complete: true, placedDaysAgo: 3, shipsInDays: -2 },
  { pet: 'Ocellaris Clownfish', quantity: 2, complete: false, placedDaysAgo: 1, shipsInDays: 1 },
  // A draft.
  { quantity: 1, complete: false, placedDaysAgo: 1 },
];

/** Sold over the counter, in turn. */
export const demoSales: readonly (readonly [pet: string, quantity: number])[] = [
  ['Neon Tetra', 10],
  ['Golden Hamster', 1],
  ['Zebra Finch', 2],
  ['Corn Snake', 1],
  ['Fancy Guppy', 6],
  ['Roborovski Hamster', 2],
  ['Leopard Gecko', 1],
  ['Budgerigar', 2],
  ['Giant Prickly Stick Insect', 3],
  ['Royal Gramma', 1],
  ['Corydoras Catfish', 4],
  ['Mongolian Gerbil', 2],
  ['Ocellaris Clownfish', 2],
  ['White’s Tree Frog', 1],
  ['Red Factor Canary', 1],
  ['Caribbean Hermit Crab', 2],
  ['Siamese Fighting Fish', 1],
  ['Fire-bellied Toad', 1],
];

/** Animals that were not delivered, so that few are left. */
export const demoShortages: readonly string[] = ['Corn Snake', 'Royal Gramma'];

/** An animal that staff have put on hold for a customer. */
export const demoHold = { pet: 'Kiwi the Cockatiel', daysAgo: 10 };

/** The people and programs of the shop. Their secrets are discarded. */
export const demoKeys = {
  anna: {
    name: 'Anna (till)',
    plan: 'business',
    scopes: ['pets:read', 'orders:read', 'orders:write', 'inventory:read', 'inventory:write', 'events:read'],
    requestsPerDay: 420,
  },
  ben: {
    name: 'Ben (warehouse)',
    plan: 'business',
    scopes: ['pets:read', 'pets:write', 'orders:read', 'inventory:read', 'inventory:write', 'events:read'],
    requestsPerDay: 260,
  },
  webShop: {
    name: 'Web shop',
    plan: 'pro',
    scopes: ['pets:read', 'orders:read', 'orders:write', 'inventory:read', 'events:read', 'webhooks:write'],
    requestsPerDay: 3_800,
  },
  priceComparison: {
    name: 'Price comparison',
    plan: 'free',
    scopes: ['pets:read'],
    requestsPerDay: 900,
  },
} as const satisfies Record<string, Pick<NewApiKey, 'name' | 'plan' | 'scopes'> & { requestsPerDay: number }>;

export type Person = keyof typeof demoKeys;

/** Its host does not exist, so it is disabled: the service would log that its deliveries fail. */
export const demoWebhook = {
  url: 'https://accounting.petshop.invalid/orders',
  types: ['order.*'],
  description: 'Sends orders to the accounting',
  daysAgo: 6,
};
