import { useBlocker } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { Button } from './button.tsx';
import { useIsShown } from './is-shown.ts';
import { Panel, Question } from './panel.tsx';
import { useToasts } from './toasts.ts';

/**
 * The same as `useState` without a value, for what `SecretPanel` shows, and the name of what has the secret. If the user has closed the form
 * meanwhile, a message says what to do.
 */
export function useSecret<T extends { name: string }>() {
  const [secret, setSecret] = useState<T>();
  const isShown = useIsShown();
  const toasts = useToasts();
  const show = (next: T | undefined) => {
    if (!next || isShown()) setSecret(next);
    else
      toasts.show({
        tone: 'problem',
        text: `The new secret of ${next.name} was not shown, because its form was closed: rotate the secret to get another one`,
        stays: true,
      });
  };
  return [secret, show] as const;
}

interface SecretPanelProps {
  title: string;
  /** The secret, or `undefined` if the response that had it was lost. */
  secret: string | undefined;
  /** What else the user has to know. */
  hint: string;
  onClose: () => void;
}

/** Shows a secret once. It asks before it closes, also by Back or a reload, unless the user has copied the secret. */
export function SecretPanel({ title, secret, hint, onClose }: SecretPanelProps) {
  const input = useRef<HTMLInputElement>(null);
  const [message, setMessage] = useState('');
  const [isCopied, setCopied] = useState(false);
  const [isAsking, setAsking] = useState(false);
  const isAtRisk = secret !== undefined && !isCopied;
  /** Whether the user has agreed to lose the secret. */
  const isLost = useRef(false);
  const leaving = useBlocker({
    shouldBlockFn: () => isAtRisk && !isLost.current,
    enableBeforeUnload: isAtRisk,
    withResolver: true,
  });

  function select(): void {
    input.current?.select();
    setMessage('The secret is selected: copy it with the keyboard or the menu of the browser');
  }

  function copy(): void {
    // Browsers offer the clipboard only to pages of HTTPS and of this machine.
    if (!secret || !navigator.clipboard) select();
    else
      navigator.clipboard.writeText(secret).then(() => {
        setCopied(true);
        setMessage('Copied');
      }, select);
  }

  const close = () => (isAtRisk ? setAsking(true) : onClose());
  return (
    <Panel title={title} onClose={close}>
      <div className="panel-body">
        {secret ? (
          <>
            <p className="note">Store the secret now. It cannot be shown again.</p>
            <div className="secret">
              <input
                ref={input}
                aria-label="Secret"
                value={secret}
                readOnly
                onFocus={() => input.current?.select()}
                onCopy={() => setCopied(true)}
              />
              <Button kind="main" onClick={copy}>
                Copy
              </Button>
            </div>
            <p role="status">{message}</p>
          </>
        ) : (
          <p className="note">The response with the secret was lost. Rotate the secret to get a new one.</p>
        )}
        <p>{hint}</p>
      </div>
      <footer className="panel-footer">
        <Button onClick={close}>Close</Button>
      </footer>
      {(isAsking || leaving.status === 'blocked') && (
        <Question
          title="Close without copying the secret?"
          action="Close without copying"
          dismissal="Back to the secret"
          onClose={() => {
            setAsking(false);
            leaving.reset?.();
          }}
          onConfirm={() => {
            isLost.current = true;
            if (leaving.proceed) leaving.proceed();
            else onClose();
          }}
        >
          <p>The secret was not copied here, and it cannot be shown again.</p>
        </Question>
      )}
    </Panel>
  );
}
