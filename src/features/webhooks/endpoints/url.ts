import { type AddressGuard, type CheckedTarget, type ConnectTarget, GuardError } from '../../../infra/net/index.ts'
import { invalid } from '../../../lib/errors.ts'

const PATH = 'body.url'

/**
 * Checks an endpoint's address as it is given: https, or http where PRIVATE_TARGETS covers the host. A host that does not
 * resolve yet is accepted for https (the guard asks again at every delivery). Answers the address without blanks around it.
 */
export async function checkEndpointUrl(text: string, guard: AddressGuard): Promise<string> {
  const trimmed = text.trim()
  const url = URL.canParse(trimmed) && !/\s/.test(trimmed) ? new URL(trimmed) : undefined
  if (url === undefined || (url.protocol !== 'https:' && url.protocol !== 'http:') || url.hostname === '') {
    throw invalid(PATH, 'must be an https address')
  }
  if (url.username !== '' || url.password !== '') {
    throw invalid(PATH, 'may not hold a user name or password; send them as a header')
  }
  const plain = url.protocol === 'http:'
  const checked = await lookUp(guard, { host: url.hostname, port: Number(url.port) || (plain ? 80 : 443) })
  if (plain && (checked === undefined || !guard.allowsPlain(checked))) {
    throw invalid(PATH, 'must be https; plain http is only for addresses that PRIVATE_TARGETS covers')
  }
  return trimmed
}

async function lookUp(guard: AddressGuard, target: ConnectTarget): Promise<CheckedTarget | undefined> {
  try {
    return await guard.check(target)
  } catch (error) {
    if (!(error instanceof GuardError)) throw error
    if (error.reason === 'refused') throw invalid(PATH, error.message)
    return undefined
  }
}
