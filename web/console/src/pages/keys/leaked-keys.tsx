import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useSession } from '../../app/session.ts';
import { keys } from '../../data/keys.ts';
import { useSubmit } from '../../data/submit.ts';
import { TextField } from '../../kit/field.tsx';
import { LinesField } from '../../kit/field-groups.tsx';
import { FormPanel } from '../../kit/form-panel.tsx';
import { showToast } from '../../kit/toasts.ts';
import { useClose } from './new-key.tsx';

/** The secrets in a text, such as a line of a file with settings. */
const secretsIn = (lines: readonly string[]) => lines.join('\n').match(/\bpsk_[0-9A-Za-z]{38}\b/g) ?? [];

/** Reports secrets that were found in public, which ends their keys. What is typed is stored nowhere. */
export function LeakedKeys() {
  const { store, cache } = useSession();
  const close = useClose();
  const navigate = useNavigate();
  const [lines, setLines] = useState<readonly string[]>([]);
  const [source, setSource] = useState('');
  const secrets = [...new Set(secretsIn(lines))];
  const form = useSubmit(['keys', 'source'], async () => {
    if (secrets.length === 0)
      throw new Error(
        'The text has no secret of a key: paste it completely, from psk_ to its last character',
      );
    const found = source.trim();
    const { wellFormed } = await store.keys.revokeLeaked({
      keys: secrets,
      ...(found !== '' && { source: found }),
    });
    await cache.invalidateQueries({ queryKey: [keys.name] });
    if (wellFormed === 0)
      throw new Error('No text is a secret of a key: a character may be missing or wrong');
    showToast({
      text: `Reported ${wellFormed} ${wellFormed === 1 ? 'secret. Its key is' : 'secrets. Their keys are'} revoked`,
    });
    // There the user sees which keys they were.
    await navigate({ to: '/keys', search: { show: 'revoked' } });
  });
  return (
    <FormPanel title="Report leaked keys" form={form} action="Revoke" onClose={close}>
      <p className="hint">
        Found a secret where others can read it, such as in a public repository or a chat? Paste it here: its
        key is revoked at once, and you see in Activity where it was found. Secrets of publishable keys are
        ignored, because web pages show them to everyone.
      </p>
      <LinesField
        label="Secrets, or the lines with them"
        lines={lines}
        error={form.errors.fields.keys}
        placeholder="psk_…"
        autoComplete="off"
        onChange={setLines}
      />
      <TextField
        label="Where it was found (optional)"
        value={source}
        error={form.errors.fields.source}
        placeholder="github.com/shop/site, .env"
        onChange={({ target }) => setSource(target.value)}
      />
    </FormPanel>
  );
}
