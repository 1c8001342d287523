import { type TProperties, Type } from 'typebox'
import { nullable, timestamp } from '../../lib/json-schema.ts'

const providerName = Type.Enum(['gmail', 'microsoft', 'imap'])

const sessionCode = Type.String({ minLength: 1, maxLength: 512, description: 'The single-use code of the session.' })
const state = Type.String({
  minLength: 1,
  maxLength: 2048,
  description: 'Opaque; the same in every call of the session.',
})
const email = (description: string) => Type.String({ format: 'email', maxLength: 320, description })

export const codeParams = Type.Object({ code: sessionCode })

export const newSessionBody = Type.Object({
  customUserId: Type.Optional(
    nullable(
      Type.String({
        minLength: 1,
        maxLength: 256,
        description: "The application's own id of the user, kept with the account.",
      }),
    ),
  ),
  email: Type.Optional(nullable(email('A hint for the hosted screen.'))),
  expiresInMinutes: Type.Optional(nullable(Type.Number({ minimum: 1, maximum: 1440, description: 'Default 30.' }))),
  forceConsent: Type.Optional(
    nullable(Type.Boolean({ description: "Shows the provider's consent screen even if access was granted earlier." })),
  ),
  provider: Type.Optional(nullable(providerName)),
  redirectUri: Type.Optional(
    nullable(
      Type.String({
        format: 'uri',
        description: 'Where the browser goes in the end. Required unless APP_REDIRECT_URL is set.',
      }),
    ),
  ),
})

export const authSession = Type.Object(
  {
    code: Type.String({ description: 'Single-use; shown only here.' }),
    authUrl: Type.String({ format: 'uri', description: 'Send the browser of the end user there.' }),
    expiresAt: timestamp(),
    provider: nullable(providerName),
    email: nullable(Type.String()),
  },
  { title: 'AuthSession' },
)

export const authSessionStatus = Type.Object(
  {
    status: Type.Enum(['pending', 'started', 'completed', 'failed', 'expired'], {
      description: 'failed may be tried again; completed and expired are final.',
    }),
    provider: nullable(providerName),
    email: nullable(Type.String()),
    accountId: nullable(Type.String()),
    failureCode: nullable(Type.String({ description: 'Why the last try failed.' })),
    expiresAt: timestamp(),
  },
  { title: 'AuthSessionStatus' },
)

export const startBody = Type.Object({
  provider: providerName,
  state,
  email: Type.Optional(email('A hint for the provider.')),
})

export const startedSession = Type.Object({
  success: Type.Boolean(),
  provider: providerName,
  authorizationUrl: Type.String({ format: 'uri', description: 'Send the browser there. For imap the hosted form.' }),
  state: Type.String({ description: 'As in the URL.' }),
  expiresAt: timestamp(),
})

export const authorizeQuery = Type.Object({
  session: sessionCode,
  state: Type.Optional(
    Type.String({ maxLength: 2048, description: 'Returned in the redirect. Absent: the page makes one.' }),
  ),
})

const textOrNumber = Type.Union([Type.String(), Type.Number()])
const textOrBoolean = Type.Union([Type.String(), Type.Boolean()])
const optional = (description: string) => Type.Optional(Type.String({ description }))

export const authorizeBody = Type.Object({
  session: sessionCode,
  state,
  email: Type.Optional(Type.String({ description: 'For finding the provider.' })),
  provider: Type.Optional(Type.String({ description: 'Picked instead of an address.' })),
})

const connectionFields = {
  host: Type.String({ minLength: 1 }),
  username: Type.String({ minLength: 1 }),
  password: Type.String({ minLength: 1 }),
  port: Type.Optional(textOrNumber),
  secure: Type.Optional(textOrBoolean),
  allowSelfSigned: Type.Optional(textOrBoolean),
} satisfies TProperties

export const imapBody = Type.Object({
  session: sessionCode,
  state,
  email: email('Address of the mailbox.'),
  ...connectionFields,
  mailbox: optional('Folder to synchronise; default INBOX.'),
  smtpHost: optional('SMTP server; found by itself when absent.'),
  smtpPort: Type.Optional(textOrNumber),
  smtpSecure: Type.Optional(textOrBoolean),
  smtpUsername: optional('Default: username.'),
  smtpPassword: optional('Default: password.'),
  caldavUrl: optional('Address of the calendar server.'),
  caldavUsername: optional('Default: username.'),
  caldavPassword: optional('Default: password.'),
  intent: optional('"folders": list the folders and show the form again.'),
})

export const foldersBody = Type.Object({
  session: sessionCode,
  state,
  email: optional('Not needed to list folders.'),
  ...connectionFields,
})

export const folderList = Type.Object({
  folders: Type.Array(
    Type.Object({
      path: Type.String(),
      name: Type.String(),
      delimiter: nullable(Type.String()),
      specialUse: nullable(Type.String()),
    }),
  ),
})
