import type { Setting } from '../setting.ts'
import { loggingSettings } from './logging.ts'
import { productSettings } from './product.ts'
import { providerSettings } from './providers.ts'
import { serviceSettings } from './service.ts'

/**
 * Every setting, once, in the order of the generated `.env.example` and `docs/settings.md`. A key here is a field of
 * `Config`; where its value comes from is said in `load.ts`.
 */
export const SETTINGS = { ...serviceSettings, ...productSettings, ...providerSettings, ...loggingSettings }

type Values = { -readonly [Key in keyof typeof SETTINGS]: (typeof SETTINGS)[Key] extends Setting<infer T> ? T : never }

/** Every setting's value, after environment, file and defaults. */
export interface Config extends Values {
  /** NODE_ENV=production: stricter defaults. */
  production: boolean
}
