import { scopeNames } from '../data/key-words.ts';
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
            : `“${account.name}” may not do this: ${scopeNames[scope]}. Ask an administrator to allow it, and load the page again.`}
        </p>
        <Button onClick={signOut}>Sign in with another key</Button>
      </Empty>
    </section>
  );
}
