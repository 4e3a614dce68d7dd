import { Question } from '../../kit/panel.tsx';

/** What a key that cannot change animals has to know before its user ends a hold. */
export function holdWarning(name: string): string {
  return `${name} is on hold, and this ends it. You cannot undo it, because your API key cannot change animals.`;
}

interface HoldQuestionProps {
  /** The name of the animal. */
  name: string;
  onConfirm: () => void;
  onClose: () => void;
}

export function HoldQuestion({ name, onConfirm, onClose }: HoldQuestionProps) {
  return (
    <Question
      title={`End the hold of ${name}?`}
      action="End the hold"
      onClose={onClose}
      onConfirm={() => {
        onClose();
        onConfirm();
      }}
    >
      <p>{holdWarning(name)}</p>
    </Question>
  );
}
