import type { Static } from 'typebox'
import * as Type from 'typebox'
import { nullable } from '../../platform/formats/json-schema.ts'
import type { App } from '../../platform/http/index.ts'

const settingSchema = Type.Object(
  {
    name: Type.String({ description: 'The path in `service.config.json`.', examples: ['service.app.publicUrl'] }),
    variable: Type.String({ description: 'The environment variable.', examples: ['PUBLIC_URL'] }),
    value: nullable(
      Type.String({
        description: 'As the variable would have it. Secrets are masked; null when the setting has no value.',
      }),
    ),
    source: Type.Enum(['environment', 'file', 'default', 'generated'], {
      type: 'string',
      description: 'generated: the service made the secret at its first start.',
    }),
    isSecret: Type.Boolean(),
    about: Type.String({ description: 'What the setting does.' }),
  },
  { title: 'Setting' },
)
export type SettingView = Static<typeof settingSchema>

export function settingsRoutes(app: App, { settings }: { settings: readonly SettingView[] }): void {
  app.get(
    '/settings',
    {
      config: { access: 'key:admin' },
      schema: {
        tags: ['Operation'],
        operationId: 'listSettings',
        summary: 'List the effective settings',
        description: 'Those of the instance that responds, as it read them at its start.',
        response: { 200: Type.Object({ settings: Type.Array(settingSchema) }) },
      },
    },
    async () => ({ settings: [...settings] }),
  )
}
