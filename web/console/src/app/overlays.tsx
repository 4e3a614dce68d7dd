import { lazy, Suspense, useCallback, useState } from 'react';
import { Button } from '../kit/button.tsx';
import { useShortcuts } from './shortcuts.ts';

// They are not part of the first view.
const Palette = lazy(() => import('./palette.tsx').then(({ Palette }) => ({ default: Palette })));
const ShortcutHelp = lazy(() =>
  import('./shortcut-help.tsx').then(({ ShortcutHelp }) => ({ default: ShortcutHelp })),
);

/** The button of the palette, and what the shortcuts of the frame open. */
export function Overlays() {
  const [open, setOpen] = useState<'palette' | 'help'>();
  const onPalette = useCallback(() => setOpen('palette'), []);
  const onHelp = useCallback(() => setOpen('help'), []);
  const onClose = useCallback(() => setOpen(undefined), []);
  useShortcuts({ onPalette, onHelp, isOpening: open !== undefined });
  return (
    <>
      <Button kind="icon" icon="search" label="Find (Ctrl+K or ⌘K)" onClick={onPalette} />
      <Suspense>
        {open === 'palette' && <Palette onHelp={onHelp} onClose={onClose} />}
        {open === 'help' && <ShortcutHelp onClose={onClose} />}
      </Suspense>
    </>
  );
}
