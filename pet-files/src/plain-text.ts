/** Returns a text without accents and in small letters, so that "Catégorie" and "CATEGORIE" are the same. */
export function plainText(text: string): string {
  return text
    .normalize('NFD')
    .replace(/\p{Mn}/gu, '')
    .toLowerCase();
}
