import { type KeyboardEvent, useEffect, useId, useState } from 'react';
import { Icon } from '../kit/icon.tsx';
import { useModal } from '../kit/modal.ts';
import { type Command, useCommands } from './commands.tsx';

interface PaletteProps {
  onHelp: () => void;
  onSell: () => void;
  onClose: () => void;
}

/** Finds pages, actions, animals and orders while the user types. A combobox with a list (WAI-ARIA APG) in a dialog. */
export function Palette({ onHelp, onSell, onClose }: PaletteProps) {
  const modal = useModal(onClose);
  const id = useId();
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState<string>();
  const { commands, isSearching } = useCommands(text, { onHelp, onSell });
  // The results of a search arrive below: what the user has chosen stays chosen.
  const at = Math.max(
    0,
    commands.findIndex(command => command.id === chosen),
  );
  const active = commands[at];
  /** Whether Enter was pressed before the results of the text were there. */
  const [isWaiting, setWaiting] = useState(false);

  useEffect(() => {
    if (active) document.getElementById(`${id}-${active.id}`)?.scrollIntoView({ block: 'nearest' });
  }, [id, active]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: only the end of the search ends the wait
  useEffect(() => {
    if (!isWaiting || isSearching) return;
    setWaiting(false);
    if (active) run(active);
  }, [isWaiting, isSearching]);

  function run(command: Command): void {
    onClose();
    command.run();
  }

  /** The animals can still be those of the text before: without a choice, the first result of this text is meant. */
  function enter(): void {
    const isOld = isSearching && chosen === undefined && (active?.group ?? 'Animals') === 'Animals';
    if (isOld) setWaiting(true);
    else if (active) run(active);
  }

  function onKey(event: KeyboardEvent): void {
    // The key belongs to the input method.
    if (event.nativeEvent.isComposing) return;
    const moves: Record<string, number> = {
      ArrowDown: (at + 1) % commands.length,
      ArrowUp: (at - 1 + commands.length) % commands.length,
    };
    const to = moves[event.key];
    if (event.key === 'Enter') enter();
    else if (to !== undefined) setChosen(commands[to]?.id);
    else return;
    event.preventDefault();
  }

  return (
    <dialog
      ref={modal.ref}
      onKeyDown={modal.onKeyDown}
      onClick={modal.onClick}
      className="palette"
      aria-label="Find"
    >
      <div className="palette-content">
        <input
          type="text"
          role="combobox"
          aria-label="Find pages, actions, animals and orders"
          aria-expanded={commands.length > 0}
          aria-controls={`${id}-list`}
          aria-activedescendant={active && `${id}-${active.id}`}
          placeholder="Find a page, an action, an animal or an order by its ID"
          autoComplete="off"
          spellCheck={false}
          value={text}
          onKeyDown={onKey}
          onChange={event => {
            setText(event.target.value);
            setChosen(undefined);
            setWaiting(false);
          }}
        />
        <div
          id={`${id}-list`}
          role="listbox"
          aria-label="Results"
          className="palette-list"
          hidden={commands.length === 0}
        >
          {commands.map((command, i) => (
            // biome-ignore lint/a11y/useFocusableInteractive: the field keeps the focus
            // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the keys
            <div
              key={command.id}
              id={`${id}-${command.id}`}
              role="option"
              aria-selected={i === at}
              className="palette-item"
              onClick={() => run(command)}
            >
              <Icon name={command.icon} />
              <span>{command.title}</span>
              <small>{command.hint ?? command.group}</small>
            </div>
          ))}
        </div>
        <p className="palette-note" role="status">
          {commands.length === 0 && (isSearching ? 'Searching …' : 'Nothing matches')}
        </p>
      </div>
    </dialog>
  );
}
