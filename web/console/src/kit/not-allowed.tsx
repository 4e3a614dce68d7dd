import { Panel } from './panel.tsx';

/** What the address of an action shows to a key that may not do it. */
export function NotAllowed({ title, scope, onClose }: { title: string; scope: string; onClose: () => void }) {
  return (
    <Panel title={title} onClose={onClose}>
      <p className="panel-body">Your API key lacks the scope {scope}: ask an administrator to add it.</p>
    </Panel>
  );
}
