import type { Setting } from '../setting.ts'
import { loggingSettings } from './logging.ts'
import { productSettings } from './product.ts'
import { providerSettings } from './providers.ts'
import { serviceSettings } from './service.ts'

/**
 * Every setting, once, in the order of the generated `.env.example` and `docs/settings.md`. Each key is a field of `Config`;
 * `load.ts` reads its value.
 */
export const SETTINGS = { ...serviceSettings, ...productSettings, ...providerSettings, ...loggingSettings }

/** The value of every setting, from the environment, the file or its default. */
export type Config = {
  -readonly [Key in keyof typeof SETTINGS]: (typeof SETTINGS)[Key] extends Setting<infer T> ? T : never
}
