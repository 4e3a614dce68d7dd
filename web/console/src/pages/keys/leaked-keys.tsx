import { useNavigate } from '@tanstack/react-router';
import { useWhileShown } from '../../kit/is-shown.ts';
import { useToasts } from '../../kit/toasts.ts';
import { useClose } from './new-key.tsx';
import { ReportLeak } from './report-leak.tsx';

export function LeakedKeys() {
  const navigate = useNavigate();
  const toasts = useToasts();
  const showInActivity = useWhileShown(() => navigate({ to: '/activity', search: { type: 'key.leaked' } }));
  return (
    <ReportLeak
      onClose={useClose()}
      onReported={what => {
        toasts.show({ text: `Reported ${what}. Activity shows what has ended` });
        showInActivity();
      }}
    />
  );
}
