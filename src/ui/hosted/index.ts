/**
 * The pages that end users see while they connect a mailbox: rendered on the server, styled inline, usable without JavaScript.
 * They know nothing of sessions or providers. The auth feature decides what they show. The booking pages share brand and style.
 */
export { type AuthScreen, type Brand, brand } from './brand.ts'
export { type FormErrors, NO_ERRORS } from './fields.ts'
export type { Grant } from './grants.ts'
export type { Guide, GuideStep } from './guide.ts'
export { ICONS } from './icons.ts'
export {
  type EnteredField,
  IMAP_FORM_FIELDS,
  type ImapFormValues,
  type ImapPage,
  imapPage,
} from './imap-page.ts'
export { type LandingPage, landingPage } from './landing-page.ts'
export { brandLinks, brandLogo, type PageContext } from './layout.ts'
export { mailboxesPage } from './mailboxes-page.ts'
export { hornFavicon, hornIcon } from './mark.ts'
export { continuePage, type ErrorPage, errorPage } from './message-page.ts'
export { type ObstaclePage, obstaclePage } from './obstacle-page.ts'
export { HARDENED, pageHeaders } from './page-headers.ts'
export { consentPage, emailPage } from './start-page.ts'
export { styleSheet } from './style.ts'
export { chooseLanguage, LANGUAGES, type TextKey, type Translate, translate, translateWith } from './texts/index.ts'
