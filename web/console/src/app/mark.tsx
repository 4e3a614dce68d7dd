import mark from '../../../identity/mark.svg';

/** The mark of the product, before its name. */
export function Mark() {
  return <img src={mark} alt="" width="32" height="32" />;
}
