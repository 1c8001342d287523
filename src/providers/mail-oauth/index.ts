/**
 * Sign-ins by OAuth for mail servers (IMAP, SMTP, CalDAV), as the operator lists them in OAUTH_PROVIDERS. The accounts stay imap accounts:
 * access tokens take the place of the password. Knows no database and no routes.
 */
export { type MailLogin, type MailLogins, mailLogins, mailSettings } from './login.ts'
export { type MailOAuthProvider, readOAuthProviders } from './providers-file.ts'
