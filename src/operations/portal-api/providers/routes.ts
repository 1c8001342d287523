import type { App } from '../../../platform/http/index.ts'
import { type ProviderSetup, providersSchema } from './api.ts'

export interface DailyUnits {
  today(): Promise<number>
  perDay: number
}

/** Shows the values to enter in the consoles of the providers, and how much of Gmail's quota is used. */
export function providerSetupRoutes(app: App, providers: readonly ProviderSetup[], gmailUnits: DailyUnits): void {
  app.get(
    '/admin/provider-setups',
    { config: { access: 'key:admin' }, schema: { hide: true, response: { 200: providersSchema } } },
    async () => ({
      providers: [...providers],
      gmailUnits: { today: await gmailUnits.today(), perDay: gmailUnits.perDay },
    }),
  )
}
