import { Button } from '../../kit/button.tsx';

interface EncodingQuestionProps {
  /** The name of the file. */
  name: string;
  /** Lines of the file, as they would be read. */
  sample: readonly string[];
  onYes: () => void;
  onNo: () => void;
}

/** Asks whether a file that is not UTF-8 is Windows-1252: only a person sees whether its names are right. */
export function EncodingQuestion({ name, sample, onYes, onNo }: EncodingQuestionProps) {
  return (
    <section className="encoding-question" aria-labelledby="encoding-question">
      <h2 id="encoding-question">Are all letters right?</h2>
      <p className="hint">
        {name} is not UTF-8. Excel often writes Windows-1252. Read like that, the file has these lines:
      </p>
      <ul>
        {sample.map((line, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the lines do not move, and can be equal
          <li key={i}>{line}</li>
        ))}
      </ul>
      <div className="import-actions">
        <Button kind="main" onClick={onYes}>
          Yes, read it like that
        </Button>
        <Button onClick={onNo}>No</Button>
      </div>
    </section>
  );
}
