import { missingRights } from '../data/key-words.ts';
import { Button } from '../kit/button.tsx';
import { Empty } from '../kit/empty.tsx';
import { type Scope, useSession } from './session.ts';

/** What a page shows to a key that may not see it. */
export function NotAllowed({ scope }: { scope: Scope }) {
  const { account, signOut } = useSession();
  const isForAdministrators = scope === 'admin';
  return (
    <section className="page" aria-label="Not allowed">
      <Empty
        picture="lock"
        title={isForAdministrators ? 'Only administrators can open this page' : 'You cannot open this page'}
      >
        <p>
          {isForAdministrators
            ? `You are signed in with “${account.name}”, which is no administrator’s key.`
            : missingRights(account.name, [scope])}
        </p>
        <Button onClick={signOut}>Sign in with another key</Button>
      </Empty>
    </section>
  );
}
