import { useState } from 'react';
import { useSession } from '../../app/session.ts';
import { useSubmit } from '../../data/submit.ts';
import { TextField } from '../../kit/field.tsx';
import { LinesField } from '../../kit/field-groups.tsx';
import { FormPanel } from '../../kit/form-panel.tsx';

/** The secrets in a text, such as a line of a file with settings. */
const secretsIn = (lines: readonly string[]) =>
  lines.join('\n').match(/\bpsk_(?:test_)?[0-9A-Za-z]{38}\b/g) ?? [];

interface ReportLeakProps {
  onClose: () => void;
  /** Called with what was reported, such as "2 secrets". The service does not state which of them exist. */
  onReported: (what: string) => void;
}

/** Reports secrets that were found in public, which ends their keys. What is typed is stored nowhere. */
export function ReportLeak({ onClose, onReported }: ReportLeakProps) {
  const { store } = useSession();
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
    if (wellFormed === 0)
      throw new Error('No text is a secret of a key: a character may be missing or wrong');
    onReported(wellFormed === 1 ? '1 secret' : `${wellFormed} secrets`);
  });
  return (
    <FormPanel title="Report leaked keys" form={form} action="Report" onClose={onClose}>
      <p className="hint">
        Found a secret where others can read it, such as in a public repository or a chat? Paste it here: its
        key is revoked at once, unless the operator has set the service to report only. Administrators see the
        report in Activity. Secrets of publishable keys are ignored, because web pages show them to everyone.
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
