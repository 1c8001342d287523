import { SETTINGS } from '../config/index.ts'
import type { AppearanceDeps } from '../operations/portal-api/index.ts'
import { rethrowProgrammingError } from '../platform/errors/programming-errors.ts'

/** The settings of the hosted pages by their names there. */
const AUTH_SCREEN = {
  name: SETTINGS.authScreenName,
  logoUrl: SETTINGS.authScreenLogoUrl,
  logoDarkUrl: SETTINGS.authScreenLogoDarkUrl,
  color: SETTINGS.authScreenColor,
  supportUrl: SETTINGS.authScreenSupportUrl,
  privacyUrl: SETTINGS.authScreenPrivacyUrl,
}

/** For the portal, which shows hosted pages with values that are not stored. They are parsed like those of the configuration. */
export const authScreenSettings: Pick<AppearanceDeps, 'parseAuthScreen' | 'variables'> = {
  variables: Object.fromEntries(Object.entries(AUTH_SCREEN).map(([name, { env }]) => [name, env])),
  parseAuthScreen(values) {
    const screen: Record<string, string> = {}
    const errors: Record<string, string> = {}
    for (const [name, { kind }] of Object.entries(AUTH_SCREEN)) {
      const input = Object.entries(values).find(([key]) => key === name)?.[1]
      if (input === undefined || input === '') continue
      try {
        const value = kind.parse(input)
        if (value !== undefined) screen[name] = value
      } catch (error) {
        rethrowProgrammingError(error)
        errors[name] = `must be ${kind.expects}`
      }
    }
    return { screen, errors }
  },
}
