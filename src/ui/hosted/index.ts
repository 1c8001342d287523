/**
 * The pages that people see while connecting a mailbox: drawn on the server, styled inline, usable without JavaScript.
 * They know nothing of sessions or providers; the auth feature says what to show.
 */
export { type AuthScreen, type Brand, brand } from './brand.ts'
export { consentPage } from './consent-page.ts'
export { type FormFaults, NO_FAULTS } from './fields.ts'
export { IMAP_FORM_FIELDS, type ImapFormValues, imapPage } from './imap-page.ts'
export type { PageContext } from './layout.ts'
export { continuePage, type ErrorPage, errorPage } from './message-page.ts'
export { emailPage } from './start-page.ts'
