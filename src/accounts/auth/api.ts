import type { TProperties, TSchemaOptions } from 'typebox'
import * as Type from 'typebox'
import { providerSchema } from '../../events/index.ts'
import { documentedDefault, nullable, timestamp } from '../../platform/formats/json-schema.ts'
import { MAIL_PORTS } from '../../platform/formats/mail-ports.ts'

/** How long a session can be used whose request does not say. */
export const DEFAULT_EXPIRY_MINUTES = 30

const sessionCode = Type.String({ minLength: 1, maxLength: 512, description: 'The single-use code of the session.' })
const state = Type.String({
  minLength: 1,
  maxLength: 2048,
  description: 'Opaque value. Send the same one in every call of the session.',
})
const email = (description: string) => Type.String({ format: 'idn-email', maxLength: 320, description })

export const codeParams = Type.Object({ code: sessionCode })

export const newSessionBody = Type.Object({
  customUserId: Type.Optional(
    nullable(
      Type.String({
        minLength: 1,
        maxLength: 256,
        description: 'Your own id for the user, stored with the account.',
      }),
    ),
  ),
  email: Type.Optional(nullable(email('A hint: the hosted page fills it in.'))),
  expiresInMinutes: Type.Optional(
    nullable(
      Type.Number({
        minimum: 1,
        maximum: 1440,
        description: 'How long the link works.',
        ...documentedDefault(DEFAULT_EXPIRY_MINUTES),
      }),
    ),
  ),
  forceConsent: Type.Optional(
    nullable(
      Type.Boolean({
        description: "Show the provider's consent screen even if access was granted before.",
        ...documentedDefault(false),
      }),
    ),
  ),
  sharedMailboxes: Type.Optional(
    nullable(
      Type.Boolean({
        description:
          'Ask for mailboxes that others share with the user, too. For microsoft. After the sign-in, the hosted page lets the user name them; `POST /accounts` with `sharedWith` connects them at any time.',
        ...documentedDefault(false),
      }),
    ),
  ),
  locale: Type.Optional(
    nullable(
      Type.String({
        pattern: '^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$',
        maxLength: 35,
        description:
          "Language of the hosted pages, as a BCP 47 tag such as de or pt-BR. Default: the browser's, else en.",
      }),
    ),
  ),
  provider: Type.Optional(nullable(providerSchema)),
  redirectUri: Type.Optional(
    nullable(
      Type.String({
        format: 'uri',
        description:
          'Where the browser goes once the mailbox is connected, or when the user cancels. Required unless APP_REDIRECT_URL is set.',
      }),
    ),
  ),
})

export const authSession = Type.Object(
  {
    code: Type.String({ description: 'Single-use code. No other response contains it.' }),
    authUrl: Type.String({ format: 'uri', description: "Open this URL in the end user's browser." }),
    expiresAt: timestamp(),
    provider: nullable(providerSchema),
    email: nullable(Type.String()),
  },
  { title: 'AuthSession' },
)

export const authSessionStatus = Type.Object(
  {
    status: Type.Enum(['pending', 'started', 'completed', 'failed', 'expired'], {
      description: 'The user can retry a failed session; completed and expired are final.',
    }),
    provider: nullable(providerSchema),
    email: nullable(Type.String()),
    accountId: nullable(Type.String()),
    failureCode: nullable(Type.String({ description: 'Why the last attempt failed: the code of an error.' })),
    failureReason: nullable(
      Type.String({
        description: 'What is wrong with the server, if that is certain: the code of the detail.',
        examples: ['certificate_expired'],
      }),
    ),
    expiresAt: timestamp(),
  },
  { title: 'AuthSessionStatus' },
)

export const startBody = Type.Object({
  provider: providerSchema,
  state,
  email: Type.Optional(email('Login hint for the provider.')),
})

export const startedSession = Type.Object({
  success: Type.Boolean(),
  provider: providerSchema,
  authorizationUrl: Type.String({
    format: 'uri',
    description: "Open this URL in the end user's browser. For imap it is the hosted form.",
  }),
  state: Type.String({ description: 'The state in authorizationUrl.' }),
  expiresAt: timestamp(),
})

export const authorizeQuery = Type.Object({
  session: sessionCode,
  state: Type.Optional(
    Type.String({
      maxLength: 2048,
      description: 'Returned in the redirect. When absent, the page uses its own state.',
    }),
  ),
})

const port = (options: TSchemaOptions) => Type.Optional(Type.Union([Type.String(), Type.Number()], options))
const flag = (options: TSchemaOptions) => Type.Optional(Type.Union([Type.String(), Type.Boolean()], options))
const optional = (description: string) => Type.Optional(Type.String({ description }))

export const authorizeBody = Type.Object({
  session: sessionCode,
  state,
  email: Type.Optional(Type.String({ description: 'The address whose provider to find.' })),
  provider: Type.Optional(Type.String({ description: 'The chosen provider. Replaces the address.' })),
  signIn: Type.Optional(
    Type.String({
      description:
        '"oauth", with provider imap: sign in where OAUTH_PROVIDERS says for the address, instead of with a password.',
    }),
  ),
})

const connectionFields = {
  host: Type.String({ minLength: 1 }),
  username: Type.String({ minLength: 1 }),
  password: Type.String({ minLength: 1 }),
  port: port({ description: 'Of the IMAP server.', ...documentedDefault(MAIL_PORTS.imaps) }),
  secure: flag({
    description: 'True: TLS from the first byte; false: STARTTLS. When absent: true, except on port 143.',
  }),
  allowSelfSigned: flag({ description: 'True: do not verify the certificate.', ...documentedDefault(false) }),
} satisfies TProperties

export const imapBody = Type.Object({
  session: sessionCode,
  state,
  email: email('Address of the mailbox.'),
  ...connectionFields,
  mailbox: Type.Optional(Type.String({ description: 'Folder to sync.', ...documentedDefault('INBOX') })),
  smtpHost: optional('SMTP server. When absent, it is detected.'),
  smtpPort: port({ description: 'Usually 465 or 587.' }),
  smtpSecure: flag({ description: 'True: TLS from the first byte; false: STARTTLS.' }),
  smtpUsername: optional('Default: username.'),
  smtpPassword: optional('Default: password.'),
  caldavUrl: optional('URL of the calendar server.'),
  caldavUsername: optional('Default: username.'),
  caldavPassword: optional('Default: password.'),
  intent: optional('"folders": list the folders and show the form again.'),
})

/** The form of the page that asks for shared mailboxes. `ready0`, `ready1` …: whether to connect each that opened. */
export const sharedBody = Type.Object({
  session: sessionCode,
  state,
  signIn: Type.String({ minLength: 1 }),
  mailboxes: Type.Optional(Type.String()),
  own: Type.Optional(Type.String()),
})

export const foldersBody = Type.Object({
  session: sessionCode,
  state,
  email: optional('Not required to list folders.'),
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
