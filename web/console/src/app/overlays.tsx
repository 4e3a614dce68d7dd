import { useCallback, useState } from 'react';
import { Button } from '../kit/button.tsx';
import { lazyPart } from '../kit/lazy-part.tsx';
import { Panel } from '../kit/panel.tsx';
import { useSession } from './session.ts';
import { useShortcuts } from './shortcuts.ts';

// They are not part of the first view.
const Palette = lazyPart(() => import('./palette.tsx'), 'Palette', NotLoaded);
const Till = lazyPart(() => import('./till.tsx'), 'Till', NotLoaded);
const ShortcutHelp = lazyPart(() => import('./shortcut-help.tsx'), 'ShortcutHelp', NotLoaded);

function NotLoaded({ onClose }: { onClose: () => void }) {
  return (
    <Panel title="Not loaded yet" kind="question" onClose={onClose}>
      <p className="panel-body">The service cannot be reached. This appears by itself when it is back.</p>
    </Panel>
  );
}

/** The button of the palette, and what the shortcuts of the frame open. */
export function Overlays() {
  const { can } = useSession();
  const [open, setOpen] = useState<'palette' | 'help' | 'till'>();
  const onPalette = useCallback(() => setOpen('palette'), []);
  const onHelp = useCallback(() => setOpen('help'), []);
  const canSell = can('orders:write') && can('pets:read');
  const onSell = useCallback(() => canSell && setOpen('till'), [canSell]);
  const onClose = useCallback(() => setOpen(undefined), []);
  useShortcuts({ onPalette, onHelp, onSell, isOpening: open !== undefined });
  return (
    <>
      <Button kind="icon" icon="search" label="Find (Ctrl+K or ⌘K)" onClick={onPalette} />
      {open === 'palette' && <Palette onHelp={onHelp} onSell={onSell} onClose={onClose} />}
      {open === 'till' && <Till onClose={onClose} />}
      {open === 'help' && <ShortcutHelp onClose={onClose} />}
    </>
  );
}
