/** The last day whose end a date-time can state: its years have four digits (RFC 3339 §5.6). */
export const LAST_DAY = '9999-12-30';
