import { useNavigate } from '@tanstack/react-router';
import { useSyncExternalStore } from 'react';
import { densities, density } from '../kit/density.ts';
import { Icon } from '../kit/icon.tsx';
import { Menu } from '../kit/menu.tsx';
import { useToasts } from '../kit/toasts.ts';
import { useSession } from './session.ts';
import { theme, themes } from './theme.ts';

const titles = { system: 'Same as the system', light: 'Light', dark: 'Dark' };
const rowTitles = { comfortable: 'High rows', compact: 'Low rows' };

export function AccountMenu() {
  const { account, signOut } = useSession();
  const navigate = useNavigate();
  const shown = theme.use();
  const rows = density.use();
  const toasts = useToasts();
  const undos = useSyncExternalStore(toasts.subscribe, toasts.undos);
  return (
    <div className="account">
      {undos.length > 0 && (
        <Menu
          label="Undo a recent action"
          className="button"
          items={undos.map(({ id, text }) => ({
            id,
            label: `Undo: ${text}`,
            onChoose: () => toasts.undo(id),
          }))}
        >
          <Icon name="undo" />
        </Menu>
      )}
      <Menu
        label="Theme and rows"
        className="button"
        items={[
          ...themes.map(choice => ({
            label: titles[choice],
            isCurrent: choice === shown,
            onChoose: () => theme.write(choice),
          })),
          ...densities.map(choice => ({
            label: rowTitles[choice],
            isCurrent: choice === rows,
            onChoose: () => density.write(choice),
          })),
        ]}
      >
        <Icon name="sun" />
      </Menu>
      <Menu
        label={`Account: ${account.name}`}
        className="button"
        items={[
          { label: 'This key: limits and plan', onChoose: () => navigate({ to: '/account' }) },
          { label: 'API and guide', onChoose: () => location.assign('/docs') },
          { label: `Sign out ${account.name}`, onChoose: () => signOut() },
        ]}
      >
        <Icon name="user" />
        <span className="account-name">{account.name}</span>
        <Icon name="down" />
      </Menu>
    </div>
  );
}
