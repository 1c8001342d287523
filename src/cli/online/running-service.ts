import type { Posthorn } from '@posthorn/sdk'
import { readConfig } from '../../config/index.ts'
import { parseApiKeys } from '../../platform/crypto/api-keys.ts'
import { generatedApiKey } from '../../platform/secrets/index.ts'
import { type CommandArguments, type Option, UsageError } from '../command.ts'

/** The API of a running service. */
interface RunningService {
  /** Without a trailing slash. */
  url: string
  key: string
}

export const SERVICE_OPTIONS = {
  url: { value: 'URL', about: 'the address of the service; default PUBLIC_URL' },
  key: { value: 'KEY', about: 'its API key; default SERVICE_API_KEY, else the generated key in DATA_DIR' },
} satisfies Record<string, Option>

/** Reads address and key from the options, else from the settings of the service. Throws `UsageError` or `ConfigError`. */
export function runningService({ options }: CommandArguments): RunningService {
  const config = options.url === undefined || options.key === undefined ? readConfig().config : undefined
  const url = options.url ?? config?.publicUrl ?? ''
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new UsageError('--url must be an http or https URL.')
  const key = options.key ?? firstKey(config?.serviceApiKey) ?? (config && generatedApiKey(config.dataDir))
  if (key === undefined) {
    throw new UsageError(
      `There is no API key in ${config?.dataDir}. Pass --key, set SERVICE_API_KEY, or run the command in the folder in which the service starts.`,
    )
  }
  return { url: url.replace(/\/+$/, ''), key }
}

/**
 * A client of the service. It makes one attempt, so that a command says at once what is wrong. The SDK is loaded only here and in
 * commands that use it, because every other command starts without it.
 */
export async function openClient({ url, key }: RunningService): Promise<Posthorn> {
  const { Posthorn } = await import('@posthorn/sdk')
  return new Posthorn({ baseUrl: url, apiKey: key, maxRetries: 0 })
}

/** The new key when there are two: it remains. */
function firstKey(keys: string | undefined): string | undefined {
  return keys === undefined ? undefined : parseApiKeys(keys)[0]
}
