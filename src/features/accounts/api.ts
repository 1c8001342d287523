import { Type } from 'typebox'
import { providerSchema } from '../../events/index.ts'
import { pageQuery } from '../../infra/http/index.ts'
import { nullable, timestamp } from '../../lib/json-schema.ts'
import { accountFields } from './events.ts'

export const accountSchema = Type.Object(
  {
    ...accountFields,
    paused: Type.Boolean(),
    statusReason: nullable(Type.String({ description: 'Human-readable reason for the status.' })),
    watch: Type.Boolean({
      description: 'False: the service keeps no connection open and polls the mailbox every 60 s.',
    }),
    lastSyncAt: nullable(timestamp('When the last complete sync ended.')),
    tokens: Type.Object(
      { expiresAt: nullable(timestamp()), scopes: Type.Array(Type.String()), hasRefreshToken: Type.Boolean() },
      { description: 'Describes the OAuth tokens. The tokens themselves are never returned.' },
    ),
    createdAt: timestamp(),
    updatedAt: timestamp(),
  },
  { title: 'Account' },
)

export const accountQuery = Type.Object({
  ...pageQuery,
  q: Type.Optional(
    Type.String({ maxLength: 320, description: 'A part of the address or of the customUserId, or the id.' }),
  ),
  status: Type.Optional(Type.Enum(['connecting', 'syncing', 'connected', 'auth_error', 'error', 'paused'])),
  provider: Type.Optional(providerSchema),
})

const optionalText = (description: string) => Type.Optional(nullable(Type.String({ description })))
const optionalPort = (description: string) =>
  Type.Optional(nullable(Type.Union([Type.Integer(), Type.String()], { description })))
const optionalFlag = (description: string) =>
  Type.Optional(nullable(Type.Union([Type.Boolean(), Type.String()], { description })))

/** The fields of a connection. Forms send them loosely typed; `parseImapConnection` validates them. Empty means absent. */
const imapFieldSchemas = {
  email: optionalText('The mailbox address. Required.'),
  host: optionalText('The IMAP server. Required.'),
  port: optionalPort('Default 993.'),
  secure: optionalFlag('True: TLS from the first byte; false: STARTTLS. Default true, except on port 143.'),
  allowSelfSigned: optionalFlag('True: do not verify the certificate. Default false.'),
  username: optionalText('Required.'),
  password: optionalText('Required.'),
  mailbox: optionalText('The folder to sync. Default INBOX.'),
  smtpHost: optionalText(
    'The service signs in to it before it connects the account. Without any SMTP field, it derives them from the IMAP server at the first send.',
  ),
  smtpPort: optionalPort('Usually 465 or 587.'),
  smtpSecure: optionalFlag('True: TLS from the first byte; false: STARTTLS.'),
  smtpUsername: optionalText('Default: the IMAP username.'),
  smtpPassword: optionalText('Default: the IMAP password.'),
  caldavUrl: optionalText(
    'The URL of the CalDAV server. The service looks for calendars there before it connects the account. Without it, they are looked for when they are first requested.',
  ),
  caldavUsername: optionalText('Default: the IMAP username.'),
  caldavPassword: optionalText('Default: the IMAP password.'),
}

const customUserId = Type.Optional(
  nullable(
    Type.String({
      maxLength: 256,
      description: 'Identifies the user in your application. The same mailbox with another value is another account.',
    }),
  ),
)

export const createBody = Type.Object({
  provider: Type.Optional(Type.Enum(['gmail', 'microsoft', 'imap'], { description: 'Default imap.' })),
  customUserId,
  refreshToken: optionalText(
    'Required for gmail and microsoft, where email must match the token if given. Not for imap.',
  ),
  ...imapFieldSchemas,
})

export const patchBody = Type.Object({
  paused: Type.Optional(Type.Boolean()),
  customUserId,
  watch: Type.Optional(Type.Boolean()),
})

export const accountParams = Type.Object({
  accountId: Type.String({ description: 'The id, or the customUserId of exactly one account.' }),
})
