import type { Static } from 'typebox'
import * as Type from 'typebox'
import { documentedAs, nullable, timestamp } from '../../platform/formats/json-schema.ts'
import { listSchema, pageQuery } from '../../platform/http/index.ts'

const PROVIDERS = ['gmail', 'microsoft'] as const

const name = Type.String({
  minLength: 1,
  maxLength: 200,
  pattern: '\\S',
  description: 'Says whose mailboxes these are.',
})

const clientSecret = Type.String({
  minLength: 1,
  maxLength: 1024,
  description: 'The value of a client secret, not its id.',
})
const privateKey = Type.String({
  minLength: 1,
  maxLength: 16_384,
  description: 'In place of `clientSecret`: the RSA key of a certificate, in PEM form, without a passphrase.',
})
const certificate = Type.String({
  minLength: 1,
  maxLength: 16_384,
  description: 'With `privateKey`: the certificate in PEM form, as it was uploaded to the application.',
})
const thumbprint = Type.String({
  minLength: 1,
  maxLength: 128,
  description: 'In place of `certificate`: its thumbprint in hexadecimal, SHA-1 or SHA-256.',
})

const serviceAccountKey = Type.Union([Type.String({ minLength: 1, maxLength: 16_384 }), Type.Object({})], {
  description: 'The JSON key file of a service account, as an object or as text.',
})
const adminEmail = Type.Optional(
  nullable(
    Type.String({
      maxLength: 320,
      description: 'An administrator of the domain, on whose behalf its directory is read.',
    }),
  ),
)

const secretFields = {
  clientSecret: Type.Optional(clientSecret),
  privateKey: Type.Optional(privateKey),
  certificate: Type.Optional(certificate),
  thumbprint: Type.Optional(thumbprint),
  serviceAccountKey: Type.Optional(serviceAccountKey),
  adminEmail,
}

export const connectionSchema = Type.Object(
  {
    id: Type.String({ examples: ['con_01k9zy2a4c6e8g1j3m5p7r9t2v'] }),
    provider: Type.Enum([...PROVIDERS]),
    kind: Type.Enum(['tenant']),
    name: Type.String(),
    tenantId: nullable(Type.String({ description: 'For microsoft.' })),
    clientId: nullable(
      Type.String({
        description: 'For microsoft the application id, for gmail the number to enter in the admin console of Google.',
      }),
    ),
    thumbprint: nullable(Type.String({ description: 'Of the certificate. Null with a client secret.' })),
    serviceAccountEmail: nullable(Type.String({ description: 'For gmail.' })),
    keyId: nullable(Type.String({ description: 'For gmail: the id of the key of the service account.' })),
    adminEmail: nullable(Type.String({ description: 'For gmail: on whose behalf the directory is read.' })),
    hasSecret: Type.Boolean({ description: 'A client secret or a private key is stored. Secrets are never returned.' }),
    status: Type.Enum(['connected', 'auth_error'], {
      description: '`auth_error`: the provider refused the credentials when a token was last requested.',
    }),
    statusReason: nullable(Type.String({ description: 'Why, and what to do.' })),
    accountCount: Type.Integer({ description: 'The accounts that use the connection.' }),
    createdAt: timestamp(),
    updatedAt: timestamp(),
  },
  { title: 'Connection' },
)
export type Connection = Static<typeof connectionSchema>

export const connectionList = listSchema('connections', connectionSchema)

const kind = Type.Enum(['tenant'], { description: 'All mailboxes of an organisation.' })

const tenantFields = {
  tenantId: Type.String({
    minLength: 1,
    maxLength: 253,
    pattern: '^[A-Za-z0-9][A-Za-z0-9.-]*$',
    description: 'The directory id of the tenant, or one of its domains.',
  }),
  clientId: Type.String({
    minLength: 1,
    maxLength: 128,
    pattern: '^[A-Za-z0-9-]+$',
    description: 'The application id.',
  }),
}

/** The kinds of body, by the secret that they have. */
const microsoftFields = { provider: Type.Literal('microsoft'), kind, name, ...tenantFields }
const documentedBody = {
  oneOf: [
    Type.Object({ ...microsoftFields, clientSecret }, { title: 'NewSecretConnection' }),
    Type.Object({ ...microsoftFields, privateKey, certificate }, { title: 'NewCertificateConnection' }),
    Type.Object({ ...microsoftFields, privateKey, thumbprint }, { title: 'NewThumbprintConnection' }),
    Type.Object(
      { provider: Type.Literal('gmail'), kind, name, serviceAccountKey, adminEmail },
      { title: 'NewServiceAccountConnection' },
    ),
  ],
}

export const createConnectionBody = Type.Object(
  {
    provider: Type.Enum([...PROVIDERS]),
    kind,
    name,
    tenantId: Type.Optional(tenantFields.tenantId),
    clientId: Type.Optional(tenantFields.clientId),
    ...secretFields,
  },
  documentedAs(documentedBody),
)
export type CreateConnectionBody = Static<typeof createConnectionBody>

export const updateConnectionBody = Type.Object(
  { name: Type.Optional(name), ...secretFields },
  { title: 'UpdateConnection' },
)
export type UpdateConnectionBody = Static<typeof updateConnectionBody>

export const connectionParams = Type.Object({ connectionId: Type.String({ description: 'The id of the connection.' }) })

export const deleteConnectionQuery = Type.Object({
  force: Type.Optional(
    Type.Boolean({ description: 'True: delete the accounts of the connection, too, with all their data.' }),
  ),
})

const directoryUser = Type.Object(
  {
    id: Type.String({ description: "The provider's id of the user." }),
    email: Type.String(),
    name: Type.String(),
    accountId: nullable(Type.String({ description: 'The account of this connection with this address.' })),
  },
  { title: 'DirectoryUser' },
)
export type DirectoryUserView = Static<typeof directoryUser>

export const directoryList = listSchema('users', directoryUser)

const { page: _page, ...cursorQuery } = pageQuery
export const directoryQuery = Type.Object({
  ...cursorQuery,
  q: Type.Optional(
    Type.String({ minLength: 1, maxLength: 100, description: 'The beginning of a name or an address.' }),
  ),
})
export type DirectoryListQuery = Static<typeof directoryQuery>
