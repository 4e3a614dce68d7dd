import { Panel } from '../kit/panel.tsx';
import { setSingleKeys, shortcuts, useSingleKeys } from './shortcuts.ts';

/** Lists the shortcuts, and turns those of a single key on or off. */
export function ShortcutHelp({ onClose }: { onClose: () => void }) {
  const isOn = useSingleKeys();
  return (
    <Panel title="Keyboard shortcuts" onClose={onClose}>
      <div className="panel-body">
        <label className="check">
          <input type="checkbox" checked={isOn} onChange={event => setSingleKeys(event.target.checked)} />
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
