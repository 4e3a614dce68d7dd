import { useCallback, useState } from 'react';
import { Button } from '../kit/button.tsx';
import { lazyPart } from '../kit/lazy-part.tsx';
import { useModal } from '../kit/modal.ts';
import { useSession } from './session.ts';
import { useShortcuts } from './shortcuts.ts';

// They are not part of the first view.
const Palette = lazyPart(() => import('./palette.tsx'), 'Palette', NotLoaded);
const Till = lazyPart(() => import('./till.tsx'), 'Till', NotLoaded);
const ShortcutHelp = lazyPart(() => import('./shortcut-help.tsx'), 'ShortcutHelp', NotLoaded);

function NotLoaded({ onClose }: { onClose: () => void }) {
  const { ref, onKeyDown } = useModal(onClose);
  return (
    <dialog ref={ref} onKeyDown={onKeyDown} className="question" aria-label="Not loaded yet">
      <p className="panel-header">The service cannot be reached. This appears by itself when it is back.</p>
      <Button kind="icon" icon="close" label="Close" onClick={onClose} />
    </dialog>
  );
}

/** The buttons of the till and the palette, and what the shortcuts of the frame open. */
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
      {canSell && (
        <Button icon="orders" className="sell" onClick={onSell}>
          Sell
        </Button>
      )}
      <Button kind="icon" icon="search" label="Find (Ctrl+K or ⌘K)" onClick={onPalette} />
      {open === 'palette' && <Palette onHelp={onHelp} onSell={onSell} onClose={onClose} />}
      {open === 'till' && <Till onClose={onClose} />}
      {open === 'help' && <ShortcutHelp onClose={onClose} />}
    </>
  );
}
