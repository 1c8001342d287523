import type { App } from '../../../infra/http/index.ts'
import { type ProviderSetup, providersSchema } from './api.ts'

/** What an operator enters in the consoles of the providers. */
export function providerSetupRoutes(app: App, providers: readonly ProviderSetup[]): void {
  app.get(
    '/admin/provider-setups',
    { config: { access: 'key:admin' }, schema: { hide: true, response: { 200: providersSchema } } },
    async () => ({ providers: [...providers] }),
  )
}
