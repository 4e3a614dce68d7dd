import { useEffect, useRef } from 'react';
import { useImport } from '../../data/import/use-import.ts';
import { useKeptFocus } from '../../kit/kept-focus.ts';
import { DropZone } from './drop-zone.tsx';
import { EarlierImport } from './earlier-import.tsx';
import { EncodingQuestion } from './encoding-question.tsx';
import { FileLabel } from './file-label.tsx';
import { Preparation } from './preparation.tsx';
import { Progress, Undone } from './progress.tsx';
import './import.css';

/** Imports animals from a CSV file: choose it, map its columns, correct its rows, then write, which can be undone. */
export function Import() {
  const current = useImport();
  const { file, progress, undone, error, notUtf8, earlier, undo } = current;
  const isRunning = progress?.isRunning || undone?.isRunning;
  const page = useRef<HTMLElement>(null);
  const keptFocus = useKeptFocus(page);
  useNoOtherDrops();
  return (
    <section ref={page} className="page import" aria-label="Import" tabIndex={-1} {...keptFocus}>
      <header className="page-header">
        <h1>
          Import <small>{file?.name}</small>
        </h1>
        {file && !isRunning && (
          <FileLabel
            className="button file-button"
            name="Another CSV file"
            onFile={file => current.choose(file)}
          >
            Choose another file
          </FileLabel>
        )}
      </header>
      <div className="import-body">
        {!file ? (
          <>
            <DropZone
              reading={current.reading}
              error={notUtf8 ? undefined : error}
              onFile={file => current.choose(file)}
            />
            {notUtf8 && (
              <EncodingQuestion
                name={notUtf8.file.name}
                sample={notUtf8.sample}
                onYes={() => current.choose(notUtf8.file, 'windows-1252')}
                onNo={current.refuseEncoding}
              />
            )}
            {undone ? (
              <Undone progress={undone} />
            ) : (
              earlier && undo && <EarlierImport journal={earlier} onUndo={undo} />
            )}
          </>
        ) : progress ? (
          <Progress file={file} progress={progress} current={current} />
        ) : (
          <Preparation file={file} current={current} />
        )}
      </div>
    </section>
  );
}

/** A file that is dropped next to its place would replace the console. */
function useNoOtherDrops(): void {
  useEffect(() => {
    const ignore = (event: DragEvent) => {
      if (event.defaultPrevented) return;
      event.preventDefault();
      if (event.dataTransfer) event.dataTransfer.dropEffect = 'none';
    };
    addEventListener('dragover', ignore);
    addEventListener('drop', ignore);
    return () => {
      removeEventListener('dragover', ignore);
      removeEventListener('drop', ignore);
    };
  }, []);
}
