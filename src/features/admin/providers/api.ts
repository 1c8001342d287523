import { type Static, Type } from 'typebox'
import { nullable } from '../../../lib/json-schema.ts'

const providerSchema = Type.Object({
  name: Type.String(),
  isConfigured: Type.Boolean(),
  redirectUrl: nullable(Type.String({ description: 'To enter at the provider, exactly.' })),
  scopes: Type.Array(Type.String(), { description: 'Requested from every user. Empty without a configuration.' }),
})
export type ProviderSetup = Static<typeof providerSchema>

export const providersSchema = Type.Object({ providers: Type.Array(providerSchema) })
