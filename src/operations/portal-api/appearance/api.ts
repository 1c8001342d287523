import type { Static } from 'typebox'
import * as Type from 'typebox'

const text = Type.Optional(Type.String({ maxLength: 2048 }))

/** Values of the settings as an operator types them; empty ones are not set. */
export const valuesQuery = Type.Object({
  name: text,
  logoUrl: text,
  logoDarkUrl: text,
  color: text,
  supportUrl: text,
  privacyUrl: text,
})

export const PAGES = ['start', 'consent', 'result'] as const

export const previewQuery = Type.Object({
  ...valuesQuery.properties,
  page: Type.Optional(Type.Enum([...PAGES])),
  language: Type.Optional(Type.String({ maxLength: 35 })),
  scheme: Type.Optional(Type.Enum(['light', 'dark'])),
})

const screen = Type.Record(Type.String(), Type.String())

export const appearanceSchema = Type.Object({
  current: { ...screen, description: 'The settings of the service, by their name. Omitted ones are not set.' },
  errors: { ...screen, description: 'What is wrong with a value of the query, by its name.' },
  variables: { ...screen, description: 'The environment variable of each.' },
  languages: Type.Array(Type.String(), { description: 'Of the hosted pages.' }),
})
export type Appearance = Static<typeof appearanceSchema>
