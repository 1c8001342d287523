import type { Static } from 'typebox'
import * as Type from 'typebox'
import { nullable } from '../../../platform/formats/json-schema.ts'

const providerSchema = Type.Object({
  name: Type.String(),
  label: nullable(Type.String({ description: 'Of a name in OAUTH_PROVIDERS: what users see.' })),
  isConfigured: Type.Boolean(),
  redirectUrl: nullable(Type.String({ description: 'To enter at the provider, exactly.' })),
  scopes: Type.Array(Type.String(), { description: 'Requested from every user. Empty without a configuration.' }),
})
export type ProviderSetup = Static<typeof providerSchema>

export const providersSchema = Type.Object({
  providers: Type.Array(providerSchema),
  gmailUnits: Type.Object({
    today: Type.Integer({ description: 'Units of the quota that the project used since midnight in California.' }),
    perDay: Type.Integer({ description: 'From there on Google charges. 0: not known.' }),
  }),
})
export type ProviderSetups = Static<typeof providersSchema>
