/** Drawings of 160 × 120 units, each a list of how a shape is painted and its outline. */
const pictures = {
  animals: [
    ['paper', 'M48 100c-6-28 14-46 36-46s40 16 34 46z'],
    ['paper', 'M44 68l1-18 12 9h12l12-9 1 18a19 19 0 1 1-38 8z'],
    ['line', 'M53 76q3 3 6 0M67 76q3 3 6 0M61 83l2 2 2-2M118 100c14-2 16-16 6-22'],
    ['accent', 'M98 36h10l-10 11h10M116 20h7l-7 8h7'],
  ],
  orders: [
    ['paper', 'M48 52l32-15 32 15v36l-32 15-32-15z'],
    ['line', 'M48 52l32 15 32-15M80 67v36'],
    ['accent', 'M64 44.500l32 15v14'],
  ],
  stock: [
    ['paper', 'M46 38h20v20H46zM94 70h20v20H94z'],
    ['solid', 'M72 44h14v14H72zM48 76h14v14H48z'],
    ['line', 'M36 102V30M124 102V30M36 58h88M36 90h88'],
  ],
  categories: [
    ['line', 'M74 32h22l28 28-8 8'],
    ['paper', 'M48 38h28l32 32-28 28-32-32z'],
    ['solid', 'M63 50a5 5 0 1 0-10 0 5 5 0 1 0 10 0z'],
    ['line', 'M72 60l18 18M66 66l12 12'],
  ],
  activity: [
    ['paper', 'M114 62a34 34 0 1 0-68 0 34 34 0 1 0 68 0z'],
    ['line', 'M80 40v22l14 10'],
    ['accent', 'M20 62h14M126 62h14'],
  ],
  webhooks: [
    ['paper', 'M58 46h16a16 16 0 0 1 0 32H58z'],
    ['line', 'M30 62h28M90 54h10M90 70h10M112 42v40M112 62h20'],
    ['accent', 'M104 34l6-8M118 34l8-6M92 32l-2-8'],
  ],
  deliveries: [
    ['paper', 'M40 60l82-32-32 70-16-28z'],
    ['line', 'M74 70l48-42'],
    ['accent', 'M28 78q8 8 18 6M36 94q10 6 22 2'],
  ],
  keys: [
    ['paper', 'M82 58a21 21 0 1 0-42 0 21 21 0 1 0 42 0z'],
    ['solid', 'M60 58a6 6 0 1 0-12 0 6 6 0 1 0 12 0z'],
    ['line', 'M82 58h44v14M110 58v12'],
  ],
  search: [
    ['paper', 'M98 54a27 27 0 1 0-54 0 27 27 0 1 0 54 0z'],
    ['line', 'M60 52a11 11 0 0 1 11-11'],
    ['accent', 'M91 74l24 25'],
  ],
  done: [
    ['paper', 'M50 54h48v20c0 14-8 22-24 22s-24-8-24-22z'],
    ['line', 'M98 60h6c12 0 10 20-9 20M42 102h64'],
    ['accent', 'M64 44c-5-6 5-9 0-16M82 44c-5-6 5-9 0-16'],
  ],
  shop: [
    ['paper', 'M44 54h72v48H44z'],
    ['solid', 'M38 54l8-22h68l8 22z'],
    ['line', 'M88 102V70h18v32M54 68h22v18H54z'],
  ],
  problem: [
    ['paper', 'M52 92c-20 0-22-24-5-27 0-22 32-28 40-9 14-6 27 6 22 18 14 3 12 18-3 18z'],
    ['accent', 'M78 60v14M78 82v.1'],
  ],
  lock: [
    ['line', 'M62 58V48a18 18 0 0 1 36 0v10'],
    ['paper', 'M52 58h56v40H52z'],
    ['accent', 'M80 72v12'],
  ],
  nowhere: [
    ['line', 'M80 36v66'],
    ['paper', 'M80 32h34l10 10-10 10H80zM80 58H48l-10 10 10 10h32z'],
    ['accent', 'M66 102h28'],
  ],
} satisfies Record<string, (readonly [kind: 'paper' | 'line' | 'solid' | 'accent', outline: string])[]>;

export type PictureName = keyof typeof pictures;

/** A drawing in the colours of the theme, above a text that says the same. */
export function Picture({ name }: { name: PictureName }) {
  return (
    <svg className="picture" viewBox="0 0 160 120" aria-hidden="true">
      <circle data-kind="soft" cx="80" cy="60" r="52" />
      {pictures[name].map(([kind, outline]) => (
        <path key={outline} data-kind={kind} d={outline} />
      ))}
    </svg>
  );
}
