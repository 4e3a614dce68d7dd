import type { Account } from '@petstore/client';
import { type Completion, completionOf, petOf, Rejection } from '@petstore/pet-files';
import type { Context } from '../command.ts';
import { LoginError } from '../failure.ts';
import type { Row } from './rows.ts';

/**
 * Reads the account. Throws a `LoginError` if its key may not create the pets of the rows, or not complete them: they would then have
 * another stock than their rows.
 */
export async function accountFor(
  { store, calls }: Pick<Context, 'store' | 'calls'>,
  rows: AsyncIterable<Row>,
): Promise<Account> {
  const account = await store.account.get(calls);
  if (!mayDo(account, 'pets:write'))
    throw new LoginError('The API key lacks the scope pets:write: ask an administrator to add it');
  if (mayDo(account, 'inventory:write') && mayDo(account, 'orders:write')) return account;
  for await (const row of rows) checkScope(account, row);
  return account;
}

function checkScope(account: Account, { line, values }: Row): void {
  const completion = completionOfRow(values);
  if (!completion) return;
  const isStock = completion.kind === 'stock';
  const scope = isStock ? 'inventory:write' : 'orders:write';
  const part = isStock ? 'has a quantity' : 'has a pending pet without stock, which needs an open order';
  if (!mayDo(account, scope))
    throw new LoginError(
      `Line ${line} ${part}, and the API key lacks the scope ${scope}: ask an administrator to add it, or leave the column out with --map quantity=`,
    );
}

/** What completes the pet of a row; `undefined` also if the row is rejected. */
function completionOfRow(values: Row['values']): Completion | undefined {
  if (typeof values === 'string') return undefined;
  try {
    return completionOf(petOf(values));
  } catch (error) {
    if (error instanceof Rejection) return undefined;
    throw error;
  }
}

/** Whether an API key has a scope. */
const mayDo = ({ scopes }: Account, scope: Account['scopes'][number]) =>
  scopes.includes(scope) || scopes.includes('admin');
