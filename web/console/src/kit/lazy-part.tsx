import { createElement, type FunctionComponent, useEffect, useReducer, useState } from 'react';

/** How long after a failure a part that is shown is requested again, in milliseconds. */
const PAUSE = 3_000;

interface NotLoaded {
  /** Requests the part now. */
  onRetry: () => void;
}

type Preload = () => Promise<void>;

const parts = new Set<Preload>();

/**
 * A part of the console with a file of its own. `preload` never rejects: while the service cannot be reached, only the place of a part
 * that is shown says so, with `notLoaded`, and requests the part again until it is there.
 */
export function lazyPart<Name extends string, Props extends object>(
  load: () => Promise<{ [N in Name]: FunctionComponent<Props> }>,
  name: Name,
  notLoaded: FunctionComponent<Props & NotLoaded>,
): FunctionComponent<Props> & { preload: Preload } {
  let loaded: FunctionComponent<Props> | undefined;
  let loading: Promise<void> | undefined;

  async function request(): Promise<void> {
    try {
      loaded = (await load())[name];
    } catch {
      loading = undefined;
    }
  }

  function preload(): Promise<void> {
    loading ??= request();
    return loading;
  }
  parts.add(preload);

  function Part(props: Props) {
    const [hasFailed, setFailed] = useState(false);
    const [attempt, onRetry] = useReducer((attempt: number) => attempt + 1, 0);
    const isLoaded = loaded !== undefined;
    // biome-ignore lint/correctness/useExhaustiveDependencies: each attempt requests it again
    useEffect(() => {
      if (isLoaded) return;
      let isShown = true;
      let timer: ReturnType<typeof setTimeout>;
      void preload().then(() => {
        if (!isShown) return;
        if (loaded) onRetry();
        else {
          setFailed(true);
          timer = setTimeout(onRetry, PAUSE);
        }
      });
      return () => {
        isShown = false;
        clearTimeout(timer);
      };
    }, [attempt, isLoaded]);
    if (loaded) return createElement(loaded, props);
    return hasFailed ? createElement(notLoaded, { ...props, onRetry }) : null;
  }
  return Object.assign(Part, { preload });
}

/** Loads all parts, one after the other, so that the pages work while the service cannot be reached. */
export async function loadAllParts(): Promise<void> {
  for (const preload of parts) await preload();
}
