import { useNavigate } from '@tanstack/react-router';
import { showToast } from '../../kit/toasts.ts';
import { useClose } from './new-key.tsx';
import { ReportLeak } from './report-leak.tsx';

export function LeakedKeys() {
  const navigate = useNavigate();
  return (
    <ReportLeak
      onClose={useClose()}
      onReported={what => {
        showToast({ text: `Reported ${what}. Here you see what has ended` });
        void navigate({ to: '/activity', search: { type: 'key.leaked' } });
      }}
    />
  );
}
