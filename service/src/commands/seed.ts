import { fillEmptyStore } from '../demo/demo-shop.ts';
import { argumentsOf } from './arguments.ts';
import { withStore } from './store.ts';

export async function seed(args: string[]): Promise<void> {
  argumentsOf(args, {});
  const filled = await withStore(db => fillEmptyStore(db, Date.now()));
  process.stdout.write(
    filled ? 'The demo shop is in the store\n' : 'The store is not new; nothing was changed\n',
  );
}
