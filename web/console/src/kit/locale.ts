/** The locale of texts with words, such as names of months: the language of the console, and the user's form of it. Numbers have the user's own. */
export const wordsLocale = navigator.language.startsWith('en') ? navigator.language : 'en-GB';
