import { readConfig } from '../config/index.ts'
import { generatedApiKey } from '../infra/secrets/index.ts'
import { type Given, UsageError } from './command.ts'

/** A running service, as a command reaches it: over its API. */
export interface RunningService {
  /** Without a slash at the end. */
  url: string
  key: string
}

export const SERVICE_OPTIONS = ['url', 'key'] as const

/** From the options, else from the settings that the service itself would have here. Throws `UsageError`, `ConfigError`. */
export function runningService({ options }: Given): RunningService {
  const config = options.url === undefined || options.key === undefined ? readConfig().config : undefined
  const url = options.url ?? config?.publicUrl ?? ''
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) throw new UsageError('--url must be an address.')
  const key = options.key ?? config?.serviceApiKey ?? (config && generatedApiKey(config.dataDir))
  if (key === undefined) throw new UsageError('--key is missing, and so is SERVICE_API_KEY.')
  return { url: url.replace(/\/+$/, ''), key }
}

/** What the service says is wrong, or its status when it says nothing. */
export async function failureOf(response: Response): Promise<string> {
  const text = await response.text().catch(() => '')
  try {
    return `The service answered ${response.status}: ${JSON.parse(text).error.message}`
  } catch {
    return `The service answered ${response.status}.`
  }
}

/** The cause behind "fetch failed". */
export function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  return cause instanceof Error ? cause.message || cause.name : String(cause)
}
