import { Panel } from '../kit/panel.tsx';
import { singleKeys } from './shortcuts.ts';

/** What the keyboard does everywhere, for the list of shortcuts. `isSingle`: without Ctrl, ⌘ or Alt, so it can be turned off. */
const shortcuts: readonly { keys: string; text: string; isSingle: boolean }[] = [
  { keys: 'Ctrl+K or ⌘K', text: 'Find pages, actions, animals and orders', isSingle: false },
  { keys: 'Ctrl+Z or ⌘Z', text: 'Undo the last action', isSingle: false },
  { keys: '?', text: 'Show the shortcuts', isSingle: true },
  { keys: '/', text: 'Search the list', isSingle: true },
  { keys: 's', text: 'Sell', isSingle: true },
  { keys: 'n', text: 'Add an item to the list', isSingle: true },
  { keys: '1 to 9', text: 'Go to a page of the navigation', isSingle: true },
  { keys: '↑ ↓', text: 'Move between rows', isSingle: false },
  { keys: 'Enter', text: 'Open the row', isSingle: false },
  { keys: 'Space', text: 'Select the row', isSingle: false },
  { keys: 'Shift+↑ ↓', text: 'Select several rows', isSingle: false },
  { keys: 'Ctrl+A or ⌘A', text: 'In a list: select all rows that are loaded', isSingle: false },
  { keys: 'Esc', text: 'Close what is open', isSingle: false },
];

/** Lists the shortcuts, and turns those of a single key on or off. */
export function ShortcutHelp({ onClose }: { onClose: () => void }) {
  const isOn = singleKeys.use();
  return (
    <Panel title="Keyboard shortcuts" onClose={onClose}>
      <div className="panel-body">
        <label className="check">
          <input type="checkbox" checked={isOn} onChange={event => singleKeys.write(event.target.checked)} />
          Single-key shortcuts
        </label>
        <dl className="shortcuts">
          {shortcuts.map(({ keys, text, isSingle }) => (
            <div key={keys} data-off={(isSingle && !isOn) || undefined}>
              <dt>
                <kbd>{keys}</kbd>
              </dt>
              <dd>
                {text}
                {isSingle && !isOn && ' (off)'}
              </dd>
            </div>
          ))}
        </dl>
      </div>
    </Panel>
  );
}
