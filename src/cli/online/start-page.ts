import type { CommandArguments } from '../command.ts'
import { foreignResponse, unreachable } from './failures.ts'
import { runningService } from './running-service.ts'

const TIMEOUT_MS = 60_000

/**
 * The start page of the service, at the address that browsers use. It says whether a mailbox was connected. Its links are a page
 * for people, which the API document does not describe, so this is the one request that the commands send without the SDK.
 */
export async function startPage(args: CommandArguments): Promise<string> {
  const { url } = runningService(args)
  const response = await fetch(`${url}/`, {
    redirect: 'manual',
    headers: { accept: 'application/json' },
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).catch((error: unknown) => {
    throw unreachable(error, url)
  })
  const docsUrl = docsUrlIn(await response.text())
  if (docsUrl === undefined) throw foreignResponse(response.status, url)
  return docsUrl.replace(/docs$/, '')
}

function docsUrlIn(text: string): string | undefined {
  try {
    const { docsUrl } = JSON.parse(text)
    return typeof docsUrl === 'string' ? docsUrl : undefined
  } catch {
    return undefined
  }
}
