/** The ID of the thing that an event, or an entry of the history, is about. */
export const idOf = ({ subject }: { subject: string }): number => Number(subject.split('/').at(-1));
