import * as Type from 'typebox'
import { providerSchema } from '../events/index.ts'
import { documentedAs, documentedDefault, nullable, timestamp } from '../platform/formats/json-schema.ts'
import { MAIL_PORTS } from '../platform/formats/mail-ports.ts'
import { pageQuery } from '../platform/http/index.ts'
import { accountFields } from './events.ts'

export const accountSchema = Type.Object(
  {
    ...accountFields,
    paused: Type.Boolean(),
    statusReason: nullable(Type.String({ description: 'Human-readable reason for the status.' })),
    watch: Type.Boolean({
      description: 'False: the service keeps no connection open and polls the mailbox every 60 s.',
    }),
    folders: nullable(
      Type.Array(Type.String(), {
        description:
          'imap: the ids of the folders (labels) that are synced besides the main one. Null: the folders for sent messages, drafts, archive, junk and trash, and those of SYNC_FOLDERS. Null for other providers, which sync all folders.',
      }),
    ),
    lastSyncAt: nullable(timestamp('When the last complete sync ended.')),
    tokens: Type.Object(
      { expiresAt: nullable(timestamp()), scopes: Type.Array(Type.String()), hasRefreshToken: Type.Boolean() },
      { description: 'Describes the OAuth tokens. The tokens themselves are never returned.' },
    ),
    sharedWith: nullable(
      Type.String({ description: 'The account whose user opens this shared mailbox. Null: it is not shared.' }),
    ),
    connectionId: nullable(
      Type.String({ description: 'The connection whose tokens open the mailbox. Null: the account has its own.' }),
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
  status: Type.Optional(
    Type.Enum(['connecting', 'syncing', 'connected', 'auth_error', 'error', 'paused'], {
      description: 'Only accounts in this state.',
    }),
  ),
  provider: Type.Optional({ ...providerSchema, description: 'Only accounts of this provider.' }),
  connectionId: Type.Optional(Type.String({ maxLength: 64, description: 'Only accounts of this connection.' })),
})

const optionalText = (description: string, more: object = {}) =>
  Type.Optional(nullable(Type.String({ description, ...more })))
const optionalPort = (description: string, more: object = {}) =>
  Type.Optional(nullable(Type.Union([Type.Integer(), Type.String()], { description, ...more })))
const optionalFlag = (description: string, more: object = {}) =>
  Type.Optional(nullable(Type.Union([Type.Boolean(), Type.String()], { description, ...more })))

/** The fields of a connection. Forms send them loosely typed; `parseImapConnection` validates them. Empty means absent. */
const imapFieldSchemas = {
  email: optionalText('The mailbox address.'),
  host: optionalText('The IMAP server.'),
  port: optionalPort('Of the IMAP server.', documentedDefault(MAIL_PORTS.imaps)),
  secure: optionalFlag('True: TLS from the first byte; false: STARTTLS. Default true, except on port 143.'),
  allowSelfSigned: optionalFlag('True: do not verify the certificate.', documentedDefault(false)),
  username: optionalText('For the IMAP server.'),
  password: optionalText('Of this user, often an app password.'),
  mailbox: optionalText(
    'The folder to sync. With `sharedWith`, the address of the shared mailbox.',
    documentedDefault('INBOX'),
  ),
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

const text = (description: string) => Type.String({ minLength: 1, description })

/** The kinds of body. The provider of an IMAP account may be omitted, so it is no discriminator in OpenAPI's sense. */
const documentedBody = {
  oneOf: [
    Type.Object(
      {
        provider: Type.Optional(Type.Literal('imap', documentedDefault('imap'))),
        customUserId,
        ...imapFieldSchemas,
        email: text('The mailbox address.'),
        host: text('The IMAP server.'),
        username: text('For the IMAP server.'),
        password: text('Of this user, often an app password.'),
      },
      { title: 'NewImapAccount' },
    ),
    Type.Object(
      {
        provider: Type.Optional(Type.Literal('imap', documentedDefault('imap'))),
        customUserId,
        oauthProvider: text('The name in OAUTH_PROVIDERS that issued the token and has the mail servers.'),
        refreshToken: text('Issued to the OAuth client of this service.'),
        email: text('The address of the mailbox, with which the service signs in.'),
      },
      { title: 'NewImapOAuthAccount' },
    ),
    Type.Object(
      {
        provider: Type.Enum(['gmail', 'microsoft']),
        customUserId,
        refreshToken: text('Issued to the OAuth client of this service.'),
        email: optionalText('Must be the address of the user of the token, if given.'),
      },
      { title: 'NewOAuthAccount' },
    ),
    Type.Object(
      {
        connectionId: text('The connection that opens the mailbox.'),
        email: text('The address of the mailbox.'),
        provider: Type.Optional(
          Type.Enum(['gmail', 'microsoft'], { description: 'Default: the provider of the connection.' }),
        ),
        customUserId,
      },
      { title: 'NewConnectionAccount' },
    ),
    Type.Object(
      {
        provider: Type.Literal('microsoft'),
        sharedWith: text('The account of a user who may open the mailbox: its id, or its customUserId.'),
        mailbox: text('The address of the shared mailbox.'),
        customUserId,
      },
      { title: 'NewSharedAccount' },
    ),
  ],
}

export const createBody = Type.Object(
  {
    provider: Type.Optional(providerSchema),
    customUserId,
    refreshToken: optionalText('For gmail and microsoft, and with oauthProvider.'),
    oauthProvider: optionalText('For imap with a refreshToken: the name in OAUTH_PROVIDERS.'),
    connectionId: optionalText('For a mailbox that a connection opens.'),
    sharedWith: optionalText('For a shared mailbox of Microsoft 365: the account of a user who may open it.'),
    ...imapFieldSchemas,
  },
  documentedAs(documentedBody),
)

export const patchBody = Type.Object({
  paused: Type.Optional(Type.Boolean()),
  customUserId,
  watch: Type.Optional(Type.Boolean()),
  folders: Type.Optional(
    nullable(
      Type.Array(Type.String({ minLength: 1, maxLength: 1024 }), {
        maxItems: 1000,
        description:
          'imap: the folders to sync besides the main one, by the `id` or the `name` of their labels. Null: the default.',
      }),
    ),
  ),
})

export const accountParams = Type.Object({
  accountId: Type.String({ description: 'The id, or the customUserId of exactly one account.' }),
})
