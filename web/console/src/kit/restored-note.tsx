import { Button } from './button.tsx';

/** Says that a form shows what was typed before the panel was closed or the page was loaded again. */
export function RestoredNote({ onDiscard }: { onDiscard: () => void }) {
  return (
    <p className="note">
      Your unsaved changes are back.{' '}
      <Button kind="link" onClick={onDiscard}>
        Discard them
      </Button>
    </p>
  );
}
