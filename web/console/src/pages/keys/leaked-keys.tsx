import { useNavigate } from '@tanstack/react-router';
import { useToasts } from '../../kit/toasts.ts';
import { useClose } from './new-key.tsx';
import { ReportLeak } from './report-leak.tsx';

export function LeakedKeys() {
  const navigate = useNavigate();
  const toasts = useToasts();
  return (
    <ReportLeak
      onClose={useClose()}
      onReported={what => {
        toasts.show({ text: `Reported ${what}. Here you see what has ended` });
        void navigate({ to: '/activity', search: { type: 'key.leaked' } });
      }}
    />
  );
}
