import type { Command } from '../command.ts';
import { account, status } from './account.ts';
import { api } from './api.ts';
import { categories } from './categories.ts';
import { completion } from './completion.ts';
import { events } from './events.ts';
import { exports } from './export.ts';
import { history } from './history.ts';
import { importFile } from './import.ts';
import { keys } from './keys.ts';
import { listen } from './listen.ts';
import { mcp } from './mcp.ts';
import { orders } from './orders.ts';
import { pets } from './pets.ts';
import { planRequests } from './plan-requests.ts';
import { login, logout, profiles } from './profiles.ts';
import { stock } from './stock.ts';
import { webhooks } from './webhooks.ts';

/** The commands with a name of two words, and what they are about. */
export const groups: Readonly<Record<string, string>> = {
  pets: 'List, search, create, change and delete pets',
  categories: 'List, create, change and delete categories',
  orders: 'List, create, change, complete and cancel orders',
  stock: 'List, update and adjust stock',
  keys: 'Manage API keys (administrators)',
  events: 'Read, follow and verify the log of events',
  webhooks: 'Manage webhooks and their deliveries',
  export: 'Export pets, orders, categories, stock and the history',
  profiles: 'List and choose the profiles of `petstore login`',
};

/** All commands, in the order of the help. */
export const commands: readonly Command[] = [
  ...pets,
  ...categories,
  ...orders,
  ...stock,
  ...keys,
  ...planRequests,
  ...events,
  history,
  ...webhooks,
  listen,
  importFile,
  ...exports,
  ...account,
  status,
  login,
  logout,
  ...profiles,
  api,
  mcp,
  completion,
];
