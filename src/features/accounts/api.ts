import { Type } from 'typebox'
import { nullable, timestamp } from '../../lib/json-schema.ts'
import { accountFields } from './events.ts'

export const accountSchema = Type.Object(
  {
    ...accountFields,
    paused: Type.Boolean(),
    statusReason: nullable(Type.String({ description: 'What went wrong, for people.' })),
    watch: Type.Boolean({ description: 'False: no standing connection, polled every 60 s.' }),
    lastSyncAt: nullable(timestamp('When everything was last brought in step.')),
    tokens: Type.Object(
      { expiresAt: nullable(timestamp()), scopes: Type.Array(Type.String()), hasRefreshToken: Type.Boolean() },
      { description: 'What is known of the OAuth tokens; never the tokens.' },
    ),
    createdAt: timestamp(),
    updatedAt: timestamp(),
  },
  { title: 'Account' },
)

const optionalText = (description: string) => Type.Optional(nullable(Type.String({ description })))
const optionalPort = (description: string) =>
  Type.Optional(nullable(Type.Union([Type.Integer(), Type.String()], { description })))
const optionalFlag = (description: string) =>
  Type.Optional(nullable(Type.Union([Type.Boolean(), Type.String()], { description })))

/** The connection fields, as loosely as forms send them; `parseImapConnection` says what each must be. Empty means absent. */
const imapFieldSchemas = {
  email: optionalText('The mailbox address. Required.'),
  host: optionalText('The IMAP server. Required.'),
  port: optionalPort('Default 993.'),
  secure: optionalFlag('True: TLS from the first byte; false: STARTTLS. Default true, except on port 143.'),
  allowSelfSigned: optionalFlag('True: the certificate is not checked. Default false.'),
  username: optionalText('Required.'),
  password: optionalText('Required.'),
  mailbox: optionalText('The folder to synchronise. Default INBOX.'),
  smtpHost: optionalText(
    'Absent: derived from the IMAP server and probed at the first send. So are the other SMTP fields.',
  ),
  smtpPort: optionalPort('465 or 587, usually.'),
  smtpSecure: optionalFlag('True: TLS from the first byte; false: STARTTLS.'),
  smtpUsername: optionalText('Absent: the IMAP user name.'),
  smtpPassword: optionalText('Absent: the IMAP password.'),
  caldavUrl: optionalText('Where the calendars are.'),
  caldavUsername: optionalText('Absent: the IMAP user name.'),
  caldavPassword: optionalText('Absent: the IMAP password.'),
}

const customUserId = Type.Optional(
  nullable(Type.String({ maxLength: 256, description: 'Stored with the account; another one makes another account.' })),
)

export const createBody = Type.Object({
  provider: Type.Optional(Type.Enum(['gmail', 'microsoft', 'imap'], { description: 'Default imap.' })),
  customUserId,
  refreshToken: optionalText('For gmail and microsoft, and required there; email is then only compared. Not for imap.'),
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
